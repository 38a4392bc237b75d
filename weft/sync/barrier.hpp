// SPDX-License-Identifier: MIT
// A meeting point that can be used again and again.
#pragma once

#include "weft/base/assert.hpp"
#include "weft/sync/wait_queue.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stop_token>
#include <type_traits>
#include <utility>

namespace weft::sync {

/// What barriers share. *Ownership*: `lock_` guards all. *Invariants*: 0 < left_ <= expected_ between the
/// phases while anybody takes part; whoever is in the queue waits for the phase of `phase_`.
class phases {
 public:
  constexpr explicit phases(std::ptrdiff_t expected) noexcept : expected_(expected), left_(expected) {}
  ~phases() { waiters_.drain(lock_); }

  /// Counts arrivals into the current phase, which is written to `phase`; true if they were the last ones:
  /// the caller then runs the completion and calls finish(). `dropped` fewer take part from the next phase
  /// on.
  WEFT_API bool arrive(std::ptrdiff_t count, std::ptrdiff_t dropped, std::uint64_t& phase) noexcept;
  /// Lets all go on who wait for the phase. GONE: *this, when it returns.
  WEFT_API void finish() noexcept;
  /// Arrives and waits, in one step: the caller stands in the queue when others learn of its arrival, and
  /// need not look at the barrier again, which may be gone by then. as_last: as arrive() returns true.
  /// not_all: a stop was requested.
  enum class met : std::uint8_t { as_last, all, not_all };
  WEFT_API met meet(const std::stop_token& stop);
  /// True when `phase` is over; false: timed out or stopped.
  WEFT_API bool wait(std::uint64_t phase, sched::deadline until, const std::stop_token& stop);

 private:
  base::spin_lock lock_;
  base::plain<std::ptrdiff_t> expected_;
  base::plain<std::ptrdiff_t> left_;
  base::plain<std::uint64_t> phase_ = 0;
  wait_queue waiters_;
};

struct no_completion {
  void operator()() const noexcept {}
};

/// As std::barrier, with timed forms and stop tokens. The completion runs in the last thread that arrives, on
/// its stack, before anybody goes on; it must not throw, but may wait. The barrier may be destroyed as soon
/// as an arrive_and_wait() or wait() of its last phase has returned, while others who arrived are still on
/// their way out, whichever way they arrived; but a token that somebody is still to wait with keeps it in
/// use, since that wait may not have begun. Waiting: *Contexts*: thread, foreign kernel thread. *Switches*:
/// may. *Errors*: std::system_error (operation_not_permitted from a tasklet that would have to wait; no timer
/// could be had); the arrival counts all the same. Arriving alone: all contexts but signal handlers, never
/// switches unless the completion does.
template <class Completion = no_completion>
class barrier {
  static_assert(std::is_nothrow_invocable_v<Completion&>, "the completion of a barrier must not throw");

 public:
  /// Proof of an arrival; to be waited with once, or dropped.
  class arrival_token {
   public:
    arrival_token(arrival_token&&) noexcept = default;
    arrival_token& operator=(arrival_token&&) noexcept = default;

   private:
    friend barrier;
    explicit arrival_token(std::uint64_t phase) noexcept : phase_(phase) {}
    std::uint64_t phase_;
  };

  constexpr explicit barrier(std::ptrdiff_t expected, Completion completion = Completion())
      : phases_(expected), completion_(std::move(completion)) {}
  barrier(const barrier&) = delete;
  barrier& operator=(const barrier&) = delete;

  [[nodiscard]] static constexpr std::ptrdiff_t max() noexcept {
    return std::numeric_limits<std::ptrdiff_t>::max();
  }

  /// `count`: 1 to what is left of the phase.
  [[nodiscard]] arrival_token arrive(std::ptrdiff_t count = 1) { return arrival_token(arrive(count, 0)); }

  void wait(arrival_token&& token) const {
    static_cast<void>(phases_.wait(token.phase_, sched::no_deadline, {}));
  }
  /// The forms that return bool: true when the token's phase is over; false if stopped or timed out before.
  /// The arrival counts in any case; the token can be waited with again.
  [[nodiscard]] bool wait(arrival_token& token, const std::stop_token& stop) const {
    return phases_.wait(token.phase_, sched::no_deadline, stop);
  }
  template <class Rep, class Period>
  [[nodiscard]] bool wait_for(arrival_token& token, const std::chrono::duration<Rep, Period>& length,
                              const std::stop_token& stop = {}) const {
    return phases_.wait(token.phase_, deadline_of(length), stop);
  }
  template <class Clock, class Duration>
  [[nodiscard]] bool wait_until(arrival_token& token, const std::chrono::time_point<Clock, Duration>& at,
                                const std::stop_token& stop = {}) const {
    return wait_by_clock(at, stop,
                         [&](sched::deadline until) { return phases_.wait(token.phase_, until, stop); });
  }

  void arrive_and_wait() { static_cast<void>(arrive_and_wait(std::stop_token())); }
  /// False: a stop was requested before all had arrived; the arrival counts.
  [[nodiscard]] bool arrive_and_wait(const std::stop_token& stop) {
    const phases::met how = phases_.meet(stop); // GONE: *this, unless as_last
    if (how == phases::met::as_last) {
      complete();
    }
    return how != phases::met::not_all;
  }
  /// Arrives, and takes part no more from the next phase on.
  void arrive_and_drop() { arrive(1, 1); }

 private:
  std::uint64_t arrive(std::ptrdiff_t count, std::ptrdiff_t dropped) {
    std::uint64_t phase = 0;
    if (phases_.arrive(count, dropped, phase)) {
      complete();
    } // GONE: *this
    return phase;
  }
  void complete() {
    completion_(); // outside the lock: the user's code
    phases_.finish();
  }

  mutable phases phases_;
  [[no_unique_address]] Completion completion_;
};

} // namespace weft::sync
