// SPDX-License-Identifier: MIT
// A mutex for one writer or many readers, phase-fair: neither side starves.
#pragma once

#include "weft/arch/arch.hpp"
#include "weft/sync/offer_queue.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stop_token>

namespace weft::sync {

/// As std::shared_timed_mutex, with stop tokens; meets Cpp17SharedTimedLockable. Readers that come while a
/// writer waits stand behind it; a writer that leaves lets in all readers that wait by then, the last of them
/// the next writer. So a reader waits for one writer at most, a writer for one batch of readers and the
/// writers before it; and besides for those that try: what is left to a waiter that has been woken and has
/// not run yet is taken by who tries (or has no time) as if it were free, by a writer from all readers of a
/// batch of whom none has run. It may be destroyed as soon as nobody holds it and nobody waits. *Ownership*:
/// `lock_` guards all. *Invariants*: writing_: one writer holds it, or is offered it; reading_: so many
/// readers do; not both. If neither, nobody waits who has not given up. Source: phase-fair locks (Brandenburg
/// and Anderson 2010), with queues in place of spinning. Blocking forms: *Contexts*: thread, foreign kernel
/// thread; a tasklet as long as it need not wait. *Switches*: may. *Errors*: std::system_error
/// (operation_not_permitted from a tasklet; no timer could be had); not held then. *Undefined*: taking it
/// while holding it in either way; unlocking what one does not hold.
class shared_mutex {
 public:
  shared_mutex() = default;
  shared_mutex(const shared_mutex&) = delete;
  shared_mutex& operator=(const shared_mutex&) = delete;
  ~shared_mutex() {
    writers_.drain(lock_);
    readers_waiting_.drain(lock_);
  }

  void lock() { static_cast<void>(wait(sched::no_deadline, {})); }
  /// The forms that return bool: true if taken.
  [[nodiscard]] bool lock(const std::stop_token& stop) { return wait(sched::no_deadline, stop); }
  [[nodiscard]] WEFT_API bool try_lock() noexcept;
  template <class Rep, class Period>
  [[nodiscard]] bool try_lock_for(const std::chrono::duration<Rep, Period>& length,
                                  const std::stop_token& stop = {}) {
    return try_in_turn() || wait(deadline_of(length), stop);
  }
  template <class Clock, class Duration>
  [[nodiscard]] bool try_lock_until(const std::chrono::time_point<Clock, Duration>& at,
                                    const std::stop_token& stop = {}) {
    return try_in_turn() || wait_by_clock(at, stop, [&](sched::deadline until) { return wait(until, stop); });
  }
  /// *Contexts*: all but signal handlers; the owner. *Switches*: never.
  WEFT_API void unlock() noexcept;

  void lock_shared() { static_cast<void>(wait_shared(sched::no_deadline, {})); }
  [[nodiscard]] bool lock_shared(const std::stop_token& stop) {
    return wait_shared(sched::no_deadline, stop);
  }
  [[nodiscard]] WEFT_API bool try_lock_shared() noexcept;
  template <class Rep, class Period>
  [[nodiscard]] bool try_lock_shared_for(const std::chrono::duration<Rep, Period>& length,
                                         const std::stop_token& stop = {}) {
    return try_in_turn_shared() || wait_shared(deadline_of(length), stop);
  }
  template <class Clock, class Duration>
  [[nodiscard]] bool try_lock_shared_until(const std::chrono::time_point<Clock, Duration>& at,
                                           const std::stop_token& stop = {}) {
    return try_in_turn_shared() ||
           wait_by_clock(at, stop, [&](sched::deadline until) { return wait_shared(until, stop); });
  }
  WEFT_API void unlock_shared() noexcept;

 private:
  WEFT_API bool wait(sched::deadline until, const std::stop_token& stop);
  WEFT_API bool wait_shared(sched::deadline until, const std::stop_token& stop);
  // What a form that can wait does first, so that it may take nothing from who waits.
  WEFT_API bool try_in_turn() noexcept;
  WEFT_API bool try_in_turn_shared() noexcept;
  bool take_locked() noexcept;
  bool take_shared_locked() noexcept;
  bool call_off() noexcept;
  bool take_offered() noexcept;
  bool take_offered_shared() noexcept;
  void tell_release() const noexcept; // to who records
  void set_writer() noexcept;
  void admit_readers() noexcept;
  void admit_writer() noexcept;
  void writer_gave_up(const held_lock& held) noexcept;

  base::atomic<std::uint32_t> mark_{0}; // the writer's, for inspection; first, as the word of a mutex is
  base::spin_lock lock_;
  base::plain<bool> writing_ = false;
  base::plain<std::size_t> reading_ = 0;
  offer_queue writers_;
  offer_queue readers_waiting_;
};

using shared_timed_mutex = shared_mutex;

} // namespace weft::sync
