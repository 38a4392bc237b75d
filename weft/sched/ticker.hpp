// SPDX-License-Identifier: MIT
// Who can make a preemptible thread leave its worker, for this room, which has no signals. Set by the preempt
// room while its monitor runs (dependency inversion, as tls_lender).
#pragma once

#include <atomic>

#include "weft/base/export.hpp"
#include "weft/sched/timer_queue.hpp"

namespace weft::sched {

struct worker;

// Contexts of both: in the runtime; all but signal handlers. Switches: never.
class ticker {
 public:
  // The thread that runs on `w`, if it is a preemptible one in user mode, leaves now. The worker does not end
  // meanwhile.
  virtual void tick(worker& w) noexcept = 0;
  // worker::planned_tick of some worker has been set to `at`.
  virtual void look_by(deadline at) noexcept = 0;

 protected:
  ~ticker() = default;
};
WEFT_API extern std::atomic<ticker*> ticker_of_process;

} // namespace weft::sched
