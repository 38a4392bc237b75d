// SPDX-License-Identifier: MIT
// Spare kernel threads for workers whose own one is held captive by a thread that was preempted on it
// (preemption::own_kernel_thread, carrier/carrier.hpp), and the kernel thread that makes more of them: the
// handler of ticks, which finds that there is none, cannot.
#pragma once

#include <cstddef>

#include "weft/base/export.hpp"
#include "weft/carrier/carrier.hpp"

namespace weft::preempt {

// Sees to it that there are `wanted` spares at least; at most WEFT_PREEMPTION_SPARES. They have the signal
// mask of the first caller. Contexts: thread, foreign kernel thread. Switches: never (the kernel thread
// blocks until they run). Errors: std::system_error if a kernel thread cannot be had, std::bad_alloc; those
// that could stay.
WEFT_API void provide_spares(std::size_t wanted);
// One more that is kept for threads which go on alone (user_mode::let_one_go_alone()): who makes a TLS block
// to lend makes this before, so that each thread that can be preempted with such a block finds one, however
// many of the others wait for the same lock. Beyond WEFT_PREEMPTION_SPARES. Returns 0 or an errno. Contexts:
// as provide_spares(), and the creator.
int reserve_spare() noexcept;
// For a block that is gone. Contexts: all.
void unreserve_spare() noexcept;
// A few more, for the creator and for who is in user code, which may wait for libc's locks.
void make_spares() noexcept;
// All have come back: ends them and waits until they are gone. Contexts: a foreign kernel thread or the
// primary thread, when no preemptible thread and no worker is left.
void end_spares() noexcept;
// The child of fork() has none.
void forget_spares_after_fork() noexcept;
using sched::hand_off;
// How kernel threads pass a worker on, for measurements: hand_off::direct unless said. Contexts: all but
// signal handlers, while no thread of the process is preempted on its own kernel thread.
WEFT_API void choose_hand_off(hand_off how) noexcept;

// Calls action(spare, argument) for each. Contexts: the monitor, for none goes while it runs.
void for_each_spare(void (*action)(sched::carrier&, void* argument), void* argument);
[[nodiscard]] WEFT_API std::size_t spare_count() noexcept;

} // namespace weft::preempt
