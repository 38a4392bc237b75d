// SPDX-License-Identifier: MIT
// One wait of one thread: what the primitives of this room put into their lists. It is registered while its
// thread still runs, so nothing is locked across the switch; notifier, timer and stop request race for one
// word, and whoever wins decides.
//
//   pending    registered; the thread is still running towards its switch
//   asleep     it has left its stack (or blocks in the kernel)
//   notified, timed_out, stopped    decided; the first to get there
//
// Ordering. (W1) decide() publishes what its caller did to (W2), the waiter's look after it wakes. (W3)
// falling asleep publishes the left context to (W4), the decide() that finds it. (W5) part(): who leaves a
// list by itself meets the destructor of the primitive.
#pragma once

#include <chrono>
#include <cstdint>
#include <stop_token>
#include <type_traits>

#include "weft/base/atomic.hpp"
#include "weft/base/export.hpp"
#include "weft/events/timer_queue.hpp"
#include "weft/os/clock.hpp"
#include "weft/queue/intrusive_fifo.hpp"
#include "weft/sync/wait_word.hpp"
#include "weft/unit/descriptor.hpp"
#include "weft/unit/wait_record.hpp"

namespace weft::sync {

enum class wait_result : std::uint32_t { notified = 2, timed_out = 3, stopped = 4 };

namespace detail {
// Counted as long double: hours::max() and time_point::min() do not fit nanoseconds, nor do their
// differences.
using wide_ns = std::chrono::duration<long double, std::nano>;
inline sched::deadline deadline_in(wide_ns left) noexcept {
  const sched::deadline now = os::now_ns();
  if (!(left.count() > 0))
    return now;
  if (left.count() > static_cast<long double>(sched::no_deadline - 1 - now))
    return sched::no_deadline - 1;
  const auto whole = static_cast<sched::deadline>(left.count());
  return now + whole + (static_cast<long double>(whole) < left.count() ? 1 : 0);
}
} // namespace detail

// The deadline for a time point of any clock; steady_clock counts the same nanoseconds as the kernel's
// monotonic clock. One that is past, or no number, is now; one too far away is the last there is.
template <class Clock, class Duration>
sched::deadline deadline_of(const std::chrono::time_point<Clock, Duration>& at) {
  return detail::deadline_in(detail::wide_ns(at.time_since_epoch()) -
                             detail::wide_ns(Clock::now().time_since_epoch()));
}
template <class Rep, class Period>
sched::deadline deadline_of(const std::chrono::duration<Rep, Period>& length) {
  return detail::deadline_in(detail::wide_ns(length));
}

// Whether a limit leaves no time to wait: such a wait lets others run once, and looks.
inline bool has_passed(sched::deadline until) noexcept {
  return until != sched::no_deadline && until <= os::now_ns();
}

// Calls `wait(deadline)` until it says true, or a stop is requested, or `at` has come by its own clock. The
// user's clocks may go slower than ours, or be set: then there is time left when the deadline has passed.
// What is left of the library's own clocks is computed once.
template <class Clock, class Duration, class Wait>
bool wait_by_clock(const std::chrono::time_point<Clock, Duration>& at, const std::stop_token& stop,
                   Wait wait) {
  constexpr bool is_ours =
      std::is_same_v<Clock, std::chrono::steady_clock> || std::is_same_v<Clock, std::chrono::system_clock>;
  bool done = wait(deadline_of(at));
  if constexpr (!is_ours) {
    while (!done && !stop.stop_requested() && Clock::now() < at)
      done = wait(deadline_of(at));
  }
  return done;
}

// As this_thread::yield(), but a request to cancel the thread is not acted on; a kernel thread that is no
// worker gives its CPU away, a tasklet does nothing. Contexts: all but signal handlers. Switches: may.
// Errors: none.
WEFT_API void let_others_run();

// Ownership: the waiting thread's frame. `link` and what a primitive adds belong to the primitive's lock.
// Whoever decides must not touch the waiter afterwards (GONE), so take it out of its list first.
class WEFT_API waiter final : private sched::timer {
 public:
  // `what` it waits for, as debuggers shall show it.
  explicit waiter(const unit::wait_record& what = {}) noexcept;
  waiter(const waiter&) = delete;

  queue::link link;
  void* tag = nullptr;   // the primitive's
  unit::wait_record why; // set before wait()

  // Blocks until decided. If the time has passed already, others run once and then it is over: in a tasklet
  // too, and no timer is needed. Contexts: thread, foreign kernel thread. Switches: may. Errors: before
  // anything has changed: std::system_error (operation_not_permitted from a tasklet; no timer could be had).
  // The waiter may be in a list then. Once, unless it is renewed.
  wait_result wait(sched::deadline until = sched::no_deadline, const std::stop_token& stop = {});

  // Decides the wait; true for the first caller, whose waiter wakes. Contexts: all but signal handlers.
  // Switches: never. GONE: *this, when it returns.
  bool decide(wait_result how) noexcept;
  // The same; `publish()` runs once it is decided, before a waiter that sleeps is woken, and so before it can
  // leave. GONE: *this, from publish() on.
  template <class Publish>
  bool decide(wait_result how, Publish publish) noexcept {
    unit::descriptor* const u = unit_; // read before the word is set: the waiter may be gone after that
    const base::atomic<std::uint32_t>& word = state_.word();
    const wait_word::found found = state_.decide(static_cast<std::uint32_t>(how)); // (W1), (W4)
    if (found == wait_word::found::decided)
      return false;
    publish();
    if (found == wait_word::found::sleeping)
      wake(u, word);
    return true;
  }
  // RACY, unless a lock orders it: no may be out of date.
  [[nodiscard]] bool is_decided() const noexcept { return state_.load() > wait_word::asleep; }
  bool notify() noexcept { return decide(wait_result::notified); }
  // After a wait that ended by a notification: for one more. By the waiter, while nobody can decide it or
  // look at it: its timer is disarmed by then, and its stop callback gone.
  void renew() noexcept {
    state_.renew();
    parted_.store_relaxed(false); // relaxed: whoever looks next learns of the wait by what kept him away
  }

  // Of a wait that nobody notified: the waiter, before it touches the primitive to leave its list, and the
  // primitive's destructor, once it has taken the waiter out of the list. True for the first of the two; the
  // second leaves the rest to it. (W5) acq_rel: the second sees what the first did. GONE: *this, for the
  // destructor, if true.
  bool part() noexcept { return !parted_.exchange_acq_rel(true); }

  static waiter& from(queue::link& l) noexcept {
    return *reinterpret_cast<waiter*>(reinterpret_cast<char*>(&l) - offset_of_link());
  }

 private:
  static std::size_t offset_of_link() noexcept;
  static void wake(unit::descriptor* u, const base::atomic<std::uint32_t>& word) noexcept;
  void on_expiry() noexcept override { decide(wait_result::timed_out); }
  wait_result pass(const std::stop_token& stop);
  void sleep(sched::deadline until);
  void sleep_on_kernel_thread(sched::deadline until) noexcept;

  wait_word state_;
  base::atomic<bool> parted_{false};
  unit::descriptor* unit_; // null: a kernel thread that is no worker
};

} // namespace weft::sync
