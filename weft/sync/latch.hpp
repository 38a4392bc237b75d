// SPDX-License-Identifier: MIT
// A count that goes down once; at 0 all who wait go on.
#pragma once

#include "weft/sync/wait_queue.hpp"

#include <chrono>
#include <cstddef>
#include <limits>
#include <stop_token>

namespace weft::sync {

/// As std::latch, with timed forms and stop tokens. It may be destroyed as soon as a wait or an
/// arrive_and_wait() has returned, while others who have counted down are still on the way out, of
/// arrive_and_wait() too. *Ownership*: `lock_` guards the queue and the step to 0;
/// other steps are atomic. *Ordering*: (L1) a count_down() releases, what sees 0 acquires. Waiting:
/// *Contexts*: thread, foreign kernel thread; a tasklet once the count is 0. *Switches*: may. *Errors*:
/// std::system_error (operation_not_permitted from a tasklet; no timer could be had).
class latch {
 public:
  constexpr explicit latch(std::ptrdiff_t expected) noexcept : count_(expected) {}
  latch(const latch&) = delete;
  latch& operator=(const latch&) = delete;
  ~latch() { waiters_.drain(lock_); }

  [[nodiscard]] static constexpr std::ptrdiff_t max() noexcept {
    return std::numeric_limits<std::ptrdiff_t>::max();
  }

  /// *Contexts*: all but signal handlers. *Switches*: never. *Errors*: none. *Undefined*: more than is left.
  WEFT_API void count_down(std::ptrdiff_t by = 1) noexcept;
  /// *Contexts*: any. *Switches*: never.
  [[nodiscard]] bool try_wait() const noexcept { return count_.load_acquire() == 0; } // (L1)

  void wait() const { static_cast<void>(wait(sched::no_deadline, {})); }
  /// True: the count is 0. False: a stop was requested, or the time has passed, before.
  [[nodiscard]] bool wait(const std::stop_token& stop) const { return wait(sched::no_deadline, stop); }
  template <class Rep, class Period>
  [[nodiscard]] bool wait_for(const std::chrono::duration<Rep, Period>& length,
                              const std::stop_token& stop = {}) const {
    return try_wait() || wait(deadline_of(length), stop);
  }
  template <class Clock, class Duration>
  [[nodiscard]] bool wait_until(const std::chrono::time_point<Clock, Duration>& at,
                                const std::stop_token& stop = {}) const {
    return try_wait() || wait_by_clock(at, stop, [&](sched::deadline until) { return wait(until, stop); });
  }

  void arrive_and_wait(std::ptrdiff_t by = 1) { static_cast<void>(meet(by, {})); }
  /// The arrival counts, whatever ends the wait.
  [[nodiscard]] bool arrive_and_wait(const std::stop_token& stop, std::ptrdiff_t by = 1) {
    return meet(by, stop);
  }

 private:
  WEFT_API bool meet(std::ptrdiff_t by, const std::stop_token& stop);
  WEFT_API bool wait(sched::deadline until, const std::stop_token& stop) const;

  base::atomic<std::ptrdiff_t> count_;
  mutable base::spin_lock lock_;
  mutable wait_queue waiters_;
};

} // namespace weft::sync
