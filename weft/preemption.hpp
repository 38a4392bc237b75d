// SPDX-License-Identifier: MIT
// Threads that leave their worker while they compute, if others wait: thread_attributes::preemption.
// docs/guide/preemption.md.
#pragma once

#include "weft/base/export.hpp"
#include "weft/carrier/user_mode.hpp"
#include "weft/preempt/ticks.hpp"
#include "weft/preempt/watchdog.hpp"

namespace weft {

using sched::no_preemption;
using sched::preemption;

// Whether threads of this kind are preempted on this machine; valgrind is none. Contexts: all but signal
// handlers.
[[nodiscard]] WEFT_API bool can_preempt(preemption kind) noexcept;

namespace this_thread {

// Whether sched_yield() of the calling thread lets other threads of Weft run, as that of a preemptible one
// always does, or makes the system call, as that of a cooperative one does at first. On is for code that
// spins until another thread has come along; code that calls sched_yield() with a spin lock held, or in a
// pool or scheduler of one's own, must not meet it. Returns what it was. Contexts: threads. Switches: never.
// Errors: std::system_error(operation_not_permitted): the caller is no thread of Weft.
WEFT_API bool let_sched_yield_switch(bool on);

} // namespace this_thread

} // namespace weft
