// SPDX-License-Identifier: MIT
// This room's part of fork(): locks across it, and the child's worker.
#pragma once

#include "weft/unit/descriptor.hpp"

namespace weft::sched {

class group;

// `u` goes on in the child and nobody else of the parent does: no joiner waits for it, and its end is the end
// of the process.
void survive_fork(unit::descriptor& u) noexcept;
void prepare_fork(group* g) noexcept;
void parent_of_fork(group* g) noexcept;
// The group that goes on in the child, with one worker (the caller's); null if the caller is no worker of it.
// The workers that the parent had are started again at the child's first need.
group* child_of_fork(group* g) noexcept;

} // namespace weft::sched
