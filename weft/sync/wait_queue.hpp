// SPDX-License-Identifier: MIT
// The waiters of a primitive whose state stands under one spin lock: how they come, are woken, and leave
// without having been woken.
#pragma once

#include "weft/base/export.hpp"
#include "weft/base/spin_lock.hpp"
#include "weft/queue/intrusive_fifo.hpp"
#include "weft/sync/waiter.hpp"

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <stop_token>

namespace weft::sync {

using held_lock = std::unique_lock<base::spin_lock>;

/// Waiters in order of arrival.
/// *Ownership*: the lock of the primitive guards the list, and what `waiter::tag` points to until the waiter
/// is decided. *Invariant*: who has not been notified is in the list; who has been is not, and need not touch
/// the primitive again. So it may destroy it: the destructor takes the lock, and so waits for the notifier's
/// last store. Others whose waits have ended by time, stop or exception may be on their way out of the list
/// then: they find that they need not touch it either.
class WEFT_API wait_queue {
 public:
  [[nodiscard]] bool empty() const noexcept {
    return size_.load_relaxed() == 0;
  } // relaxed: the lock orders it
  /// The same without the lock. RACY: for whom another lock orders it after the enqueue() that it must see.
  [[nodiscard]] bool looks_empty() const noexcept { return empty(); }

  /// Puts `w` into the queue, unlocks, waits. `held` is locked again unless the caller was notified, also
  /// when an exception leaves; nor is it if the primitive has been destroyed since the wait ended: whoever
  /// may meet that touches the primitive only if held.owns_lock(). *Contexts*: thread, foreign kernel thread.
  /// *Switches*: may. *Errors*: as waiter::wait(); not in the queue then.
  wait_result wait(held_lock& held, waiter& w, sched::deadline until, const std::stop_token& stop);
  /// The same in two steps, the second without the lock and returning without it.
  void enqueue(waiter& w) noexcept {
    list_.push_back(&w.link);
    size_.store_relaxed(size_.load_relaxed() + 1);
  }
  wait_result finish(base::spin_lock& lock, waiter& w, sched::deadline until, const std::stop_token& stop);
  /// Of one that is decided, not by a notification, and never waits. *Contexts*: all but signal handlers.
  void leave(base::spin_lock& lock, waiter& w) noexcept;

  /// Wakes the oldest waiter that has not given up by itself; false if there is none. `prepare(waiter&)` runs
  /// before each attempt, because the waiter is gone afterwards. Lock held. *Contexts*: all but signal
  /// handlers. *Switches*: never.
  template <class Prepare>
  bool notify_one(Prepare prepare) noexcept {
    queue::intrusive_fifo given_up; // they are about to leave by themselves
    bool notified = false;
    while (!notified) {
      queue::link* const l = list_.pop_front();
      if (l == nullptr) {
        break;
      }
      waiter& w = waiter::from(*l);
      prepare(w);
      notified = w.notify(); // GONE: w, if true
      if (!notified) {
        given_up.push_back(l);
      }
    }
    list_.splice_back(given_up);
    if (notified) {
      size_.store_relaxed(size_.load_relaxed() - 1);
    }
    return notified;
  }
  bool notify_one() noexcept {
    return notify_one([](waiter&) {});
  }
  /// Wakes all; returns how many.
  std::size_t notify_all() noexcept;

  /// For destructors: waits until nobody holds the lock, and takes out who is on the way out of the queue.
  /// Who waits on, undecided, is left alone: threads that are still blocked when static objects are destroyed
  /// must not hang the exit. *Contexts*: all but signal handlers. *Switches*: never. *Undefined*: such a one
  /// goes on.
  void drain(base::spin_lock& lock) noexcept;

 private:
  wait_result finish(held_lock& held, waiter& w, sched::deadline until, const std::stop_token& stop);
  void remove(waiter& w) noexcept;

  queue::intrusive_fifo list_;
  base::atomic<std::uint32_t> size_{0}; // written under the lock
};

} // namespace weft::sync
