// SPDX-License-Identifier: MIT
// Places: sets of CPUs, as OMP_PLACES names them, and which member of a team goes to which.
#pragma once

#include "front/openmp/thread.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace weft::openmp {

using place = std::vector<int>; // CPUs, ascending

/// Settled when first asked for. Empty: threads are not bound. *Contexts*: all but signal handlers.
/// *Switches*: never. *Errors*: none: what is wrong in OMP_PLACES is named once.
const std::vector<place>& places() noexcept;

/// The places of a description; false: it is none.
bool read_places(const char* text, std::vector<place>& out);

/// The sets of CPUs that share what a file of each CPU's folder in sysfs says, as far as the process may use
/// them, in the order of their first ones. Null: each alone.
std::vector<place> places_by(const char* what);

/// Says in `p` where a member goes, as the team's binding has it.
void place_member(const team& in, unsigned number, position& p) noexcept;
/// For a kernel thread that the runtime meets.
void meet_places(thread& t) noexcept;
/// Puts the calling kernel thread there, unless it is there already.
void go_to_place(thread& t) noexcept;

position position_in(team& in, unsigned number) noexcept;

// Affinities as text. `of_llvm`: for a program of that ABI, whose own runtime has another default format,
// takes unknown fields, and prints on the standard output; the other one prints on the error output.

/// OMP_DISPLAY_AFFINITY: prints that of the caller, which has begun a member.
void show_affinity(thread& t, bool of_llvm);
/// omp_display_affinity() and its like. A null or empty format: the process's.
void display_affinity(const char* format, bool of_llvm);
std::size_t capture_affinity(char* buffer, std::size_t bytes, const char* format, bool of_llvm);
std::size_t affinity_format(char* buffer, std::size_t bytes, bool of_llvm);

} // namespace weft::openmp
