// SPDX-License-Identifier: MIT
// Workers whose cooperative thread waits in the kernel. The monitor looks for workers that neither compute
// nor sleep, and ticks those that are in a call which goes on after it (cut_calls.hpp). The handler, on the
// kernel thread of the worker, sees where that stands: a thread in user code leaves the worker
// (carrier/leaving.hpp). What keeps it, a tasklet or the runtime itself, may wait in futex(2) for a lock
// whose owner was preempted on that worker (malloc has such locks), and neither would go on: then the threads
// that were preempted there go on alone, one a tick (carrier/away.cpp).
#pragma once

#include <cstdint>

#include <ucontext.h>

#include "weft/preempt/cut_calls.hpp"
#include "weft/workers/worker.hpp"

namespace weft::preempt {

// One look at a worker that runs no preemptible thread in user mode. Returns `now` if it was ticked; else
// when to look again, if that cannot wait until others are looked at. Contexts: the monitor. Switches: never.
std::int64_t look_at_silent(sched::worker& w, std::int64_t now, std::int64_t interval, int number) noexcept;

// The same for one whose preemptible thread is in user mode, where nobody waits on that worker: if the thread
// is in the kernel, in a call that goes on after a tick, it shall let the worker go all the same, which can
// take what is ready elsewhere, and what becomes ready. Groups without thieves are left alone.
void look_at_blocked(sched::worker& w, std::int64_t now, std::int64_t interval, int number) noexcept;

// Whether what was interrupted is at a system call that may wait, in the kernel or about to go there.
// SIGNAL-SAFE.
[[nodiscard]] bool is_at_a_wait(const ucontext_t& interrupted) noexcept;
// Of such a call: whether the kernel has been in it, and who makes it takes EINTR for an answer: of a futex,
// a wait. (libc ends the process where a lock that inherits priorities gives it.) SIGNAL-SAFE.
[[nodiscard]] bool ends_for_signals(const ucontext_t& interrupted) noexcept;

// Whether what runs on `w`, the caller's, is a thread that may leave it, wherever it stands. SIGNAL-SAFE.
[[nodiscard]] bool may_leave_now(const sched::worker& w) noexcept;

// To be called just before the worker's preemptible thread is ticked: the handler will know in which call it
// was, if in any. Contexts: the monitor. Switches: never.
void tell_of_call(sched::worker& w, std::int64_t now) noexcept;

// Whether that kernel thread is in a system call and waits there. Contexts: all but signal handlers.
[[nodiscard]] bool waits_in_call(int kernel_id) noexcept;

// What look_at_silent() knew when it ticked the worker. SIGNAL-SAFE.
[[nodiscard]] told_call what_was_told(const sched::worker& w) noexcept;

// What tell_of_call() said of the thread that runs in user mode on `w`, once. SIGNAL-SAFE.
[[nodiscard]] told_call told_of_user_mode(sched::worker& w) noexcept;

// Whether the thread that was interrupted, on the worker's kernel thread, may leave the worker: it is in
// user code, in a call that goes on. Contexts: the handler of ticks.
[[nodiscard]] bool can_leave(const sched::worker& w, const ucontext_t& interrupted,
                             bool is_cut_short) noexcept;

// Whether what was interrupted, on the worker's kernel thread, is the wait of a unit for a futex: nothing of
// the worker is in use then. Contexts: the handler of ticks.
[[nodiscard]] bool waits_in_futex(const sched::worker& w, const ucontext_t& interrupted) noexcept;

} // namespace weft::preempt
