// SPDX-License-Identifier: MIT
// Condition variables. One algorithm for both kinds; the one for unique_lock<mutex> exists for its name.
#pragma once

#include "weft/sync/mutex.hpp"
#include "weft/sync/wait_queue.hpp"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>

namespace weft::sync {

/// Waits for a change that others make under a lock. Semantics, names and overloads are those of
/// std::condition_variable_any, for any BasicLockable: weft's mutexes in a std::unique_lock, but also
/// std::mutex held by a kernel thread. Waiters are woken in order of arrival; a wake is never without cause,
/// but the condition may have changed again. May be destroyed as soon as all waiters have been notified. A
/// waiter is registered before the lock is released, so no notification after that is missed; not more than
/// one relaxed load is spent on a notification that nobody waits for: whoever changed the condition under the
/// lock after the waiter released it sees the count. Waiting: *Contexts*: thread, foreign kernel thread.
/// *Switches*: may. *Errors*: std::system_error (operation_not_permitted from a tasklet; no timer could be
/// had); the lock is held again then. Locking again must not throw (std::terminate). Requests to cancel a
/// thread are not acted on. What unlock() throws passes, and the caller does not wait. Notifying: *Contexts*:
/// all but signal handlers. *Switches*: never. *Errors*: none.
class condition_variable_any {
 public:
  condition_variable_any() = default;
  condition_variable_any(const condition_variable_any&) = delete;
  condition_variable_any& operator=(const condition_variable_any&) = delete;
  ~condition_variable_any() { waiters_.drain(lock_); }

  /// Wakes one waiter, or all.
  void notify_one() noexcept {
    if (!waiters_.looks_empty()) {
      notify(false);
    }
  }
  void notify_all() noexcept {
    if (!waiters_.looks_empty()) {
      notify(true);
    }
  }

  /// Releases `lock`, waits for a notification, locks again.
  template <class Lock>
  void wait(Lock& lock) {
    static_cast<void>(wait_once(lock, sched::no_deadline, {}));
  }
  /// Until `done()`.
  template <class Lock, class Predicate>
  void wait(Lock& lock, Predicate done) {
    while (!done()) {
      wait(lock);
    }
  }
  /// Until `done()` or a stop is requested; returns done().
  template <class Lock, class Predicate>
  bool wait(Lock& lock, const std::stop_token& stop, Predicate done) {
    return wait_for_predicate(lock, sched::no_deadline, stop, done);
  }

  template <class Lock, class Clock, class Duration>
  std::cv_status wait_until(Lock& lock, const std::chrono::time_point<Clock, Duration>& at) {
    wait_result how = wait_result::timed_out;
    wait_by_clock(at, {}, [&](sched::deadline until) {
      how = wait_once(lock, until, {});
      return how != wait_result::timed_out;
    });
    return status(how);
  }
  template <class Lock, class Rep, class Period>
  std::cv_status wait_for(Lock& lock, const std::chrono::duration<Rep, Period>& length) {
    return status(wait_once(lock, deadline_of(length), {}));
  }
  /// Until `done()` or the time has passed; returns done().
  template <class Lock, class Clock, class Duration, class Predicate>
  bool wait_until(Lock& lock, const std::chrono::time_point<Clock, Duration>& at, Predicate done) {
    return wait_for_predicate(lock, at, {}, done);
  }
  template <class Lock, class Rep, class Period, class Predicate>
  bool wait_for(Lock& lock, const std::chrono::duration<Rep, Period>& length, Predicate done) {
    return wait_for_predicate(lock, deadline_of(length), {}, done);
  }
  /// Until `done()`, the time has passed, or a stop is requested; returns done().
  template <class Lock, class Clock, class Duration, class Predicate>
  bool wait_until(Lock& lock, const std::stop_token& stop, const std::chrono::time_point<Clock, Duration>& at,
                  Predicate done) {
    return wait_for_predicate(lock, at, stop, done);
  }
  template <class Lock, class Rep, class Period, class Predicate>
  bool wait_for(Lock& lock, const std::stop_token& stop, const std::chrono::duration<Rep, Period>& length,
                Predicate done) {
    return wait_for_predicate(lock, deadline_of(length), stop, done);
  }

  /// What the others are made of: one wait, and how it ended.
  template <class Lock>
  wait_result wait_once(Lock& lock, sched::deadline until, const std::stop_token& stop) {
    waiter w({unit::wait_kind::condition, 0, this});
    enqueue(w);
    try {
      lock.unlock();
    } catch (...) { // it was not held, say
      withdraw(w);
      throw;
    }
    const relock<Lock> again{lock};
    return waiters_.finish(lock_, w, until, stop);
  }

 private:
  template <class Lock>
  struct relock {
    ~relock() noexcept { lock.lock(); } // as the standard: if that throws, std::terminate
    Lock& lock;
  };

  template <class Lock, class Predicate>
  bool wait_for_predicate(Lock& lock, sched::deadline until, const std::stop_token& stop, Predicate& done) {
    while (!done()) {
      if (stop.stop_requested() || wait_once(lock, until, stop) != wait_result::notified) {
        return done();
      }
    }
    return true;
  }

  template <class Lock, class Clock, class Duration, class Predicate>
  bool wait_for_predicate(Lock& lock, const std::chrono::time_point<Clock, Duration>& at,
                          const std::stop_token& stop, Predicate& done) {
    return wait_by_clock(at, stop,
                         [&](sched::deadline until) { return wait_for_predicate(lock, until, stop, done); });
  }

  static std::cv_status status(wait_result how) noexcept {
    return how == wait_result::timed_out ? std::cv_status::timeout : std::cv_status::no_timeout;
  }

  WEFT_API void enqueue(waiter& w);
  WEFT_API void withdraw(waiter& w) noexcept;
  WEFT_API void notify(bool all) noexcept;

  base::spin_lock lock_;
  wait_queue waiters_;
};

/// condition_variable_any for std::unique_lock<mutex>.
class condition_variable : private condition_variable_any {
  using any = condition_variable_any;
  using lock_type = std::unique_lock<mutex>;

 public:
  using any::notify_all;
  using any::notify_one;

  void wait(lock_type& lock) { any::wait(lock); }
  template <class Predicate>
  void wait(lock_type& lock, Predicate done) {
    any::wait(lock, std::move(done));
  }
  template <class Predicate>
  bool wait(lock_type& lock, const std::stop_token& stop, Predicate done) {
    return any::wait(lock, stop, std::move(done));
  }
  template <class... Arguments>
  auto wait_until(lock_type& lock, Arguments&&... arguments) {
    return any::wait_until(lock, std::forward<Arguments>(arguments)...);
  }
  template <class... Arguments>
  auto wait_for(lock_type& lock, Arguments&&... arguments) {
    return any::wait_for(lock, std::forward<Arguments>(arguments)...);
  }
};

} // namespace weft::sync
