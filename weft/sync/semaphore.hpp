// SPDX-License-Identifier: MIT
// Semaphores. A released permit is offered to the oldest waiter; only who tries may come before him.
#pragma once

#include "weft/base/assert.hpp"
#include "weft/sync/offer_queue.hpp"

#include <chrono>
#include <cstddef>
#include <limits>
#include <stop_token>

namespace weft::sync {

/// The permits of a semaphore, whatever its maximum. *Ownership*: `lock_` guards all. *Invariants*: `count_`
/// are nobody's, and are left only while nobody waits; each offer of `waiters_` is one more, which nobody has
/// taken yet.
class permits {
 public:
  constexpr explicit permits(std::ptrdiff_t count) noexcept : count_(count) {}
  ~permits() { waiters_.drain(lock_); }

  WEFT_API void release(std::ptrdiff_t count) noexcept;
  /// Takes one, though it is offered to a waiter.
  WEFT_API bool try_acquire() noexcept;
  /// Takes one that is nobody's: what a blocking form does before it waits.
  WEFT_API bool try_in_turn() noexcept;
  WEFT_API bool acquire(sched::deadline until, const std::stop_token& stop);
  /// Those that nobody has taken, offered ones among them.
  [[nodiscard]] WEFT_API std::ptrdiff_t count() noexcept;

 private:
  bool take_locked() noexcept;

  base::spin_lock lock_;
  std::ptrdiff_t count_;
  offer_queue waiters_;
};

/// As std::counting_semaphore, with stop tokens. Those that wait get permits in order of arrival. Who tries
/// (try_acquire(), or for no time) takes also one that has been released to a waiter which has not run yet:
/// that waiter then comes before all others. So a loop of tries ends on a single worker too. It can overtake
/// those that wait without bound; they cannot overtake each other. The semaphore may be destroyed as soon as
/// an acquire has returned and nobody waits, while its release is still on the way out. Waiting: *Contexts*:
/// thread, foreign kernel thread; a tasklet as long as it need not wait. *Switches*: may. *Errors*:
/// std::system_error (operation_not_permitted from a tasklet; no timer could be had); no permit is taken
/// then.
template <std::ptrdiff_t LeastMaximum = std::numeric_limits<std::ptrdiff_t>::max()>
class counting_semaphore {
  static_assert(LeastMaximum >= 0);

 public:
  [[nodiscard]] static constexpr std::ptrdiff_t max() noexcept { return LeastMaximum; }

  /// `desired`: 0 to max().
  constexpr explicit counting_semaphore(std::ptrdiff_t desired) noexcept : permits_(desired) {
    WEFT_ASSERT(desired >= 0 && desired <= max(), "permits of a semaphore out of range");
  }
  counting_semaphore(const counting_semaphore&) = delete;
  counting_semaphore& operator=(const counting_semaphore&) = delete;

  /// Adds permits, waking as many waiters. *Contexts*: all but signal handlers. *Switches*: never.
  /// *Undefined*: more than max().
  void release(std::ptrdiff_t count = 1) noexcept {
    WEFT_ASSERT(count >= 0 && count <= max(), "released permits out of range");
    permits_.release(count);
  }

  /// Takes a permit. The forms that return bool: true if taken.
  void acquire() { static_cast<void>(permits_.acquire(sched::no_deadline, {})); }
  [[nodiscard]] bool acquire(const std::stop_token& stop) {
    return permits_.acquire(sched::no_deadline, stop);
  }
  [[nodiscard]] bool try_acquire() noexcept { return permits_.try_acquire(); }
  template <class Rep, class Period>
  [[nodiscard]] bool try_acquire_for(const std::chrono::duration<Rep, Period>& length,
                                     const std::stop_token& stop = {}) {
    return permits_.try_in_turn() || permits_.acquire(deadline_of(length), stop);
  }
  template <class Clock, class Duration>
  [[nodiscard]] bool try_acquire_until(const std::chrono::time_point<Clock, Duration>& at,
                                       const std::stop_token& stop = {}) {
    return permits_.try_in_turn() ||
           wait_by_clock(at, stop, [&](sched::deadline until) { return permits_.acquire(until, stop); });
  }

 private:
  permits permits_;
};

using binary_semaphore = counting_semaphore<1>;

} // namespace weft::sync
