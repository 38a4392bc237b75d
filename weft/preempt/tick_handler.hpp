// SPDX-License-Identifier: MIT
// The handler of the room's signal.
#pragma once

#include <signal.h>

#include <cstdint>

#include "weft/base/atomic.hpp"

namespace weft::sched {
struct worker;
}

namespace weft::preempt {

// SIGNAL-SAFE, as handlers with SA_SIGINFO, SA_RESTART, SA_NODEFER and an empty mask are.
void on_tick(int number, siginfo_t* info, void* context);

// Also where a preemptible thread is in user mode there; null: none. Contexts: all, SIGNAL-SAFE.
[[nodiscard]] sched::worker* worker_of_this_kernel_thread() noexcept;

// Who had the signal before; gets what is not ours.
extern struct sigaction handler_before_ours;

// What became of ticks (tick_counts says what each is).
struct tick_outcomes {
  base::atomic<std::uint64_t> preemptions_done, nowhere_to_go, workers_let_go, calls_failed, let_go_alone,
      threads_left, calls_gone_on_with;
};
extern tick_outcomes handled;

} // namespace weft::preempt
