// SPDX-License-Identifier: MIT
// Places: sets of CPUs, as OMP_PLACES names them, and which member of a team goes to which.
#pragma once

#include "front/openmp/thread.hpp"

#include <string>
#include <vector>

namespace weft::openmp {

using place = std::vector<int>; // CPUs, ascending

/// Settled when first asked for. Empty: threads are not bound. *Contexts*: all but signal handlers.
/// *Switches*: never. *Errors*: none: what is wrong in OMP_PLACES is named once.
const std::vector<place>& places() noexcept;

/// The places of a description; false: it is none.
bool read_places(const char* text, std::vector<place>& out);

/// Says in `p` where a member goes, as the team's binding has it.
void place_member(const team& in, unsigned number, position& p) noexcept;
/// For a kernel thread that the runtime meets.
void meet_places(thread& t) noexcept;
/// Puts the calling kernel thread there, unless it is there already.
void go_to_place(thread& t) noexcept;

position position_in(team& in, unsigned number) noexcept;

} // namespace weft::openmp
