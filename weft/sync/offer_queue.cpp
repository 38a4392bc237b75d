// SPDX-License-Identifier: MIT
#include "weft/sync/offer_queue.hpp"
#include "weft/carrier/runtime_section.hpp"
#include "weft/sync/parting.hpp"

namespace weft::sync {
bool offer_queue::offer_to_oldest() noexcept {
  queue::counted_fifo given_up; // they are about to leave by themselves
  bool accepted = false;
  while (!accepted) {
    queue::link* const l = waiting_.pop_front();
    if (l == nullptr) {
      break;
    }
    place& p = place::from(*l);
    accepted = p.woken || p.sleep.notify(); // he needs the lock to leave
    if (accepted) {
      p.woken = true;
      p.offered = true;
      offered_.push_back(l);
    } else {
      given_up.push_back(l);
    }
  }
  waiting_.splice_back(given_up);
  return accepted;
}

std::size_t offer_queue::offer_all() noexcept {
  std::size_t count = 0;
  while (offer_one()) {
    ++count;
  }
  return count;
}

bool offer_queue::take_back() noexcept {
  queue::link* const l = offered_.pop_back();
  if (l == nullptr) {
    return false;
  }
  place::from(*l).offered = false;
  waiting_.push_front(l);
  return true;
}

bool offer_queue::wait(held_lock& held, place& p, sched::deadline until, const std::stop_token& stop) {
  const sched::runtime_section in;
  waiting_.push_back(&p.sleep.link);
  for (;;) {
    const bool woken = sleep(held, p, until, stop); // SWITCH: may resume on another worker
    if (!held.owns_lock()) {
      return p.offered; // the primitive is gone
    }
    if (p.offered) {
      offered_.remove(&p.sleep.link);
      return true;
    }
    if (!woken) {
      waiting_.remove(&p.sleep.link);
      return false;
    }
    p.woken = false;
    p.sleep.renew();
  }
}

/// True: the caller was woken. Locks once only, and keeps it: once he is out of the list, nothing but the
/// lock keeps the primitive there.
bool offer_queue::sleep(held_lock& held, place& p, sched::deadline until, const std::stop_token& stop) {
  const auto come_back = [&] {
    if (p.sleep.part()) { // (W5) else the primitive is gone
      held.lock();
    }
  };
  held.unlock();
  wait_result how = wait_result::notified;
  try {
    how = p.sleep.wait(until, stop); // SWITCH: may resume on another worker
  } catch (...) {
    if (p.sleep.decide(wait_result::stopped)) {
      come_back();
      if (held.owns_lock()) {
        waiting_.remove(&p.sleep.link);
      }
      throw;
    } // else somebody was faster, and what he has offered may not be lost
  }
  come_back();
  return how == wait_result::notified;
}

// As wait_queue::drain(): who has been decided may be a ready thread of this very worker.
void offer_queue::drain(base::spin_lock& lock) noexcept {
  const sched::runtime_section in;
  for (;;) {
    {
      const std::scoped_lock held(lock);
      const bool waiter_leaves = somebody_leaves(waiting_);
      if (!somebody_leaves(offered_) && !waiter_leaves) {
        return;
      }
    }
    base::backend::yield_kernel_thread();
  }
}

} // namespace weft::sync
