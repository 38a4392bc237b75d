// SPDX-License-Identifier: MIT
// The waiters of a primitive whose state stands under one spin lock, and which offers them what it has: who
// was woken takes it when he runs. The argument: weft/sync/README.md, "An offer, not a hand-over".
#pragma once

#include "weft/base/export.hpp"
#include "weft/base/spin_lock.hpp"
#include "weft/queue/intrusive_fifo.hpp"
#include "weft/sync/waiter.hpp"

#include <cstddef>
#include <mutex>
#include <stop_token>

namespace weft::sync {

using held_lock = std::unique_lock<base::spin_lock>;

/// Waiters in order of arrival, some of whom have been offered what they wait for.
/// *Ownership*: the lock of the primitive guards both lists and the flags of the places in them. A place lies
/// in the frame of its waiter, who alone takes it out, unless the primitive is destroyed. *Invariants*: who
/// has been offered something has been woken, and accepts it under the
/// lock; so nothing that is offered is lost. Those in `offered_` came before those in `waiting_`, but for who
/// gives up: what is taken back is taken from the youngest, who is the oldest of `waiting_` then.
class offer_queue {
 public:
  struct place {
    explicit place(const unit::wait_record& what) noexcept : sleep(what) { sleep.tag = this; }
    place(const place&) = delete;
    place& operator=(const place&) = delete;
    static place& from(queue::link& l) noexcept { return *static_cast<place*>(waiter::from(l).tag); }

    waiter sleep;
    bool offered = false;
    bool woken = false; // and has not gone to sleep again: at most one wake is on its way
  };

  /// Whether there is anybody to whom nothing has been offered. This and all others: lock held. *Contexts*:
  /// all but signal handlers. *Switches*: never. *Errors*: none.
  [[nodiscard]] bool empty() const noexcept { return waiting_.size() == 0; }
  /// How many have been offered something, and have not run yet.
  [[nodiscard]] std::size_t offered() const noexcept { return offered_.size(); }

  /// Offers what they wait for to the oldest who has not given up by himself; false if there is none.
  bool offer_one() noexcept { return !empty() && offer_to_oldest(); }
  /// Offers it to all; returns to how many.
  std::size_t offer_all() noexcept;
  /// Takes the youngest offer back, for who does not wait; false if there is none. He to whom it was made
  /// waits on, before all to whom none was made.
  bool take_back() noexcept;

  /// Puts the caller into the queue and waits: true if he has accepted an offer. Whatever happens, `held` is
  /// locked again, unless the primitive has been destroyed since the wait ended: true even then if it was
  /// offered to him. *Contexts*: thread, foreign kernel thread. *Switches*: may. *Errors*: as waiter::wait();
  /// not in the queue then.
  bool wait(held_lock& held, place& p, sched::deadline until, const std::stop_token& stop);

  /// For destructors, as wait_queue::drain(). Who has been offered something gets it.
  WEFT_API void drain(base::spin_lock& lock) noexcept;

 private:
  bool offer_to_oldest() noexcept;
  bool sleep(held_lock& held, place& p, sched::deadline until, const std::stop_token& stop);

  queue::counted_fifo waiting_;
  queue::counted_fifo offered_;
};

} // namespace weft::sync
