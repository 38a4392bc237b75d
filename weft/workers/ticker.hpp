// SPDX-License-Identifier: MIT
// Who can make a preemptible thread leave its worker, for this room, which has no signals. Set by the preempt
// room while its monitor runs (dependency inversion, as tls_lender).
#pragma once

#include <atomic>
#include <cstdint>

#include "weft/base/atomic.hpp"
#include "weft/base/export.hpp"
#include "weft/events/timer_queue.hpp"
#include "weft/unit/descriptor.hpp"

namespace weft::sched {

struct worker;
class user_mode;

// Whether a worker's kernel thread computes, as the monitor sees it (preempt/stuck.hpp).
struct silence {
  deadline since = 0, seen = 0, look_at = 0;
  // As `since`; but that of a thread that keeps the worker goes on while it is ticked in vain.
  deadline kept_since = 0;
  static constexpr std::int64_t cost_of_tick = 50'000; // at most, of CPU
  std::int64_t cpu_ns = 0;
  unsigned ticks_in_vain = 0; // in a row
  bool has_waited = false;
  // The call that it was in when it was ticked (preempt/cut_calls.hpp), for the handler.
  base::atomic<long> told_number{0}, told_first{0};
  base::atomic<deadline> told_since{0};
  base::atomic<std::int64_t> told_cpu_ns{0};  // as `cpu_ns`
  base::atomic<std::uint32_t> told_serial{0}; // of the preemptible thread that made it; 0: none did
};

// What a watchdog has seen of a worker: the same since then?
struct watchdog_note {
  const unit::descriptor* unit = nullptr;
  std::int64_t decisions = 0;
  deadline since = 0;
  std::int64_t cpu_ns = 0; // of its kernel thread, then
  bool told = false;
};

// What those who tick, and the watchdog, note of a worker. Ownership: they.
struct seen_by_ticker {
  std::uint32_t serial = 0; // of the preemptible thread that was seen last, and since when
  deadline since = 0;
  std::uint8_t flags_ignored = 0;    // in a row
  std::uint8_t ticks_unanswered = 0; // in a row, the last one included, which may be answered by now
  silence silent;
  watchdog_note watchdog;
};

// Contexts of both: in the runtime; all but signal handlers. Switches: never.
class ticker {
 public:
  // The thread that runs on `w`, if it is a preemptible one in user mode, leaves now. The worker does not end
  // meanwhile.
  virtual void tick(worker& w) noexcept = 0;
  // Whatever runs on the calling kernel thread gets a tick. SIGNAL-SAFE.
  virtual void tick_here() noexcept = 0;
  // That thread, wherever it is in user mode, with a worker or without, has its handler run.
  virtual void interrupt(const user_mode& thread) noexcept = 0;
  // `planned_tick` of some worker has been set to `at`.
  virtual void look_by(deadline at) noexcept = 0;

 protected:
  ~ticker() = default;
};
WEFT_API extern std::atomic<ticker*> ticker_of_process;
// The signal whose handler does nothing but what such a ticker is for; 0: there is none.
WEFT_API extern base::atomic<int> signal_of_ticks;

} // namespace weft::sched
