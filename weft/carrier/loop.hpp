// SPDX-License-Identifier: MIT
// What the room above does for this one: here a thread only stops and goes on, there is who runs next.
// Defined in sched/lifecycle.cpp.
#pragma once

#include "weft/base/export.hpp"
#include "weft/unit/descriptor.hpp"

namespace weft::sched {

using unit::descriptor;

// Makes a unit ready that has not waited: it yielded, or moves from one pool to another. In the pool of the
// worker that calls if that one takes units of its family, else in its own.
WEFT_API void put_back(descriptor& u);
// The same. Contexts: in the runtime.
void put_back_inside(descriptor& u);
// Leaves the running thread, which was preempted: to its pool or, if `pinned`, to where this worker alone
// will take it from. `by_tick`: it did not ask for it. Contexts: in the runtime, also in a signal handler
// that has interrupted user mode. Switches: always.
void yield_preempted(bool pinned, bool by_tick = true);

} // namespace weft::sched
