// SPDX-License-Identifier: MIT
// The kernel thread that sees to due timers while every worker is busy. An idle worker sleeps no longer than
// until the next timer of its group; where none is idle nobody would look before the next visit of a loop,
// 251 decisions from now, and decisions may take milliseconds. So the timekeeper sleeps until that timer and
// tells those who are busy. It fires no timer itself.
//
// The process has one. It starts when a worker first arms a timer that no idle worker will see, or before the
// first preemptible thread is made, and ends with the last group. docs/design/timers.md has the argument.
#pragma once

#include <cstdint>

#include "weft/base/export.hpp"
#include "weft/events/timer_queue.hpp"

namespace weft::sched::timekeeper {

// All busy workers shall know when it is `at`, of which some group has a timer. Contexts: in the runtime.
// Switches: never.
void look_by(deadline at) noexcept;

// Makes the kernel thread unless there is one: pthread_create() takes malloc's locks, which a preempted
// thread may hold, so this comes before the first of those. Where it cannot be had, timers are late as
// without it, and that is said once. Contexts: user mode, foreign kernel thread. Switches: never.
WEFT_API void start() noexcept;

// How often it was told of an earlier timer or of its end, for tests; it starts anew after fork(). Contexts:
// any. Switches: never.
WEFT_API std::uint32_t times_woken() noexcept;

// A group has started; the last one of the process has ended, and the kernel thread ends. Contexts: as
// group's.
void enter_group() noexcept;
void leave_group() noexcept;

// In the child of fork(), which has no such kernel thread.
void forget_after_fork(bool keeps_group) noexcept;

} // namespace weft::sched::timekeeper
