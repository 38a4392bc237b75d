// SPDX-License-Identifier: MIT
// The watchdog: says which thread has kept its worker for longer than a limit without a scheduling decision,
// and where it is: a loop without a yield that ought to be preemptible, or a system call that blocks. Off, it
// costs nothing; on, a kernel thread looks at the workers four times a limit. docs/guide/preemption.md.
#pragma once

#include <signal.h>

#include <chrono>
#include <cstddef>
#include <span>

#include "weft/base/export.hpp"

namespace weft::preempt {

// Valid during the call that hands it over.
struct held_worker {
  unsigned worker;                // its number
  const char* thread;             // its name; "" if it has none
  const char* function;           // what it was made to run, as far as that is known; ""
  std::chrono::milliseconds for_; // how long it has been seen there
  bool preemptible;
  std::span<void* const> calls; // program counters, the innermost first; empty: it did not answer
};
using watchdog_report = void (*)(const held_worker& what, void* argument);

// Reports every thread and tasklet that keeps a worker for longer than `limit`, once each time; 0: off. Not
// one whose kernel thread has waited for a CPU most of that time. Null: to stderr, with the calls. To begin
// with WEFT_WATCHDOG, from when the runtime starts; the child of fork() has none until it calls this.
// `report` is called on a kernel thread of its own. Contexts: thread, foreign kernel thread. Switches:
// never. Errors: std::system_error: invalid_argument (limit not 1 ms to 1 h); what stands in the way of a
// kernel thread, or of the signal (WEFT_PREEMPTION_SIGNAL).
WEFT_API void set_watchdog(std::chrono::milliseconds limit, watchdog_report report = nullptr,
                           void* argument = nullptr);

// --- for the runtime ---

// As WEFT_WATCHDOG says. Errors: none; says why it cannot.
WEFT_API void start_watchdog_if_asked() noexcept;
void forget_watchdog_after_fork() noexcept;

// --- for the handler of signals ---

// The watchdog asks where this kernel thread is. SIGNAL-SAFE.
void answer_watchdog(const void* interrupted_at) noexcept;

} // namespace weft::preempt
