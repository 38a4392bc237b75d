// SPDX-License-Identifier: MIT
// Who tells a preemptible thread that it has run long enough. One monitor for the process looks at the
// workers; where a thread has been in user mode for an interval and others wait, it leaves a flag, and sends
// a signal if the flag is not heeded within a quarter of the interval. Where nothing waits it does nothing,
// and where no preemptible thread lives it sleeps.
#pragma once

#include <chrono>
#include <cstddef>

#include "weft/base/export.hpp"
#include "weft/preempt/tick_sources.hpp"

namespace weft::sched {
struct worker;
}

namespace weft::preempt {

// Unless it runs; and whether it runs or not. Contexts: preparation.hpp. Errors: std::system_error:
// invalid_argument for a signal that cannot be used; what stands in the way of a kernel thread.
void start_monitor();
void stop_monitor() noexcept;
void forget_after_fork() noexcept;

// How long a thread may run while others wait: at least 50 us, to begin with WEFT_PREEMPTION_INTERVAL.
// Contexts: all but signal handlers. Errors: std::system_error(invalid_argument).
WEFT_API void set_interval(std::chrono::nanoseconds interval);
[[nodiscard]] WEFT_API std::chrono::nanoseconds interval() noexcept;

struct tick_counts {
  std::size_t flags = 0;       // threads told by a flag
  std::size_t signals = 0;     // that were sent
  std::size_t preemptions = 0; // threads that were made to leave by one
  // Threads that went on for want of a spare kernel thread or a TLS block. Many: WEFT_PREEMPTION_SPARES or
  // WEFT_PREEMPTION_DONORS is too low.
  std::size_t nowhere_to_go = 0;
  std::size_t workers_let_go = 0; // of threads that were in system calls
  std::size_t calls_failed = 0;   // system calls left to return EINTR for a signal, also in handlers
  std::size_t kicks = 0;          // signals among those sent, for threads of higher priority
  // Preempted threads that went on without a worker: a cooperative one that waited in the kernel had it.
  std::size_t let_go_alone = 0;
  // Times that a cooperative thread that waited in the kernel left its worker.
  std::size_t threads_left = 0;
  // System calls that a signal had cut short and that the handler went on with.
  std::size_t calls_gone_on_with = 0;
};
// Since the process began. RACY: for display and tests. Contexts: all.
[[nodiscard]] WEFT_API tick_counts counts() noexcept;

// Makes what the worker runs in user mode leave at once, by a signal. Contexts: in the runtime. Switches:
// never.
WEFT_API void kick(sched::worker& w) noexcept;

// Sends the calling kernel thread a tick, for measurements. Contexts: thread.
WEFT_API void tick_self() noexcept;

} // namespace weft::preempt
