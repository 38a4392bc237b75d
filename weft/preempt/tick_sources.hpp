// SPDX-License-Identifier: MIT
// Where ticks come from: the monitor (ticks.hpp), or the timers of "Lightweight Preemptive User-Level
// Threads" (PPoPP 2021, section 3.2), which send signals whether anybody waits or not. For comparison, and
// for machines on which every worker is busy with preemptible threads and no CPU is left for the monitor.
//
// A timer of the kernel's is bound to a kernel thread, and a worker may go on on another one. So a timer's
// signal says whose it is: where it finds another worker, or none, it is sent on to the kernel thread that
// the worker is on. The monitor's kernel thread looks every few intervals and makes the timer anew there.
// docs/design/ticks.md.
#pragma once

#include <signal.h>

#include <cstddef>
#include <cstdint>

#include "weft/base/export.hpp"

namespace weft::preempt {

enum class tick_source : std::uint8_t {
  monitor,       // looks at the queues: a flag first, a signal if that is ignored, nothing where nobody waits
  creation_time, // a timer for each worker, all of which expire at about the same time
  aligned,       // the same, spread evenly over the interval
  one_to_all,    // one timer for the process; who is interrupted signals all others that run such threads
  chain,         // the same, but each signals the next
};

// From now on ticks come from there; to begin with WEFT_PREEMPTION_TICKS. Contexts: all but signal handlers.
// Switches: never. Errors: std::system_error(invalid_argument).
WEFT_API void set_tick_source(tick_source source);
[[nodiscard]] WEFT_API tick_source tick_source_in_use() noexcept;

// --- for the monitor's kernel thread ---

// Sees to it that workers have the timers of `source`, which is not the monitor, and no others. Allocates
// nothing and takes no lock that user mode may hold but that of the list of workers. Returns for how many ns
// that is good.
std::int64_t tend_timers(tick_source source, std::int64_t interval_ns, int number) noexcept;
// No timer is left.
void end_timers() noexcept;
// In the child of fork(), which has no timers.
void forget_timers_after_fork() noexcept;

// Before the first tick is sent, in each process. Contexts: all.
void prepare_to_send() noexcept;
// Whether the system lets this process send them: a filter of system calls (seccomp) may not. Contexts: all.
[[nodiscard]] WEFT_API bool may_send_ticks() noexcept;

// --- for the handler ---

// Sends a kernel thread a tick for whatever it runs. SIGNAL-SAFE.
void send_tick(std::int32_t kernel_id, int number) noexcept;
// Asks a kernel thread what it is doing, for the watchdog; and whether the signal is that question.
// SIGNAL-SAFE.
void ask_for_calls(std::int32_t kernel_id, int number) noexcept;
[[nodiscard]] bool asks_for_calls(const siginfo_t& info) noexcept;
// Whether the signal is one of ours. SIGNAL-SAFE.
[[nodiscard]] bool is_tick(const siginfo_t& info) noexcept;
// Sends a tick on to whom else it is for. False: it was not for the calling kernel thread. SIGNAL-SAFE.
[[nodiscard]] bool pass_on(const siginfo_t& info) noexcept;
// Signals that were sent, by us or by timers, since the process began.
[[nodiscard]] std::size_t ticks_sent() noexcept;

} // namespace weft::preempt
