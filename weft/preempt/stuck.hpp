// SPDX-License-Identifier: MIT
// A cooperative thread, or a tasklet, that waits in the kernel for a lock keeps its worker. Where the lock's
// owner was preempted on that worker (malloc has such locks) neither would go on. So the monitor looks for
// workers that neither compute nor sleep, and ticks those that wait in futex(2) for good: the handler, on the
// kernel thread of the worker, lets the threads that were preempted there go on alone, one a tick
// (sched/away.cpp).
#pragma once

#include <cstdint>

#include <ucontext.h>

#include "weft/sched/worker.hpp"

namespace weft::preempt {

// One look at a worker that runs no preemptible thread in user mode. Contexts: the monitor. Switches: never.
void look_at_silent(sched::worker& w, std::int64_t now, std::int64_t interval, int number) noexcept;

// The same for one whose preemptible thread is in user mode, where nobody waits on that worker: if the thread
// is in the kernel, in a call that restarts, it shall let the worker go all the same, which can take what is
// ready elsewhere, and what becomes ready. Groups without thieves are left alone.
void look_at_blocked(sched::worker& w, std::int64_t now, std::int64_t interval, int number) noexcept;

// Whether what was interrupted, on the worker's kernel thread, is the wait of a unit for a futex: nothing of
// the worker is in use then. Contexts: the handler of ticks.
[[nodiscard]] bool waits_in_futex(const sched::worker& w, const ucontext_t& interrupted) noexcept;

} // namespace weft::preempt
