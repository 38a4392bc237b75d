// SPDX-License-Identifier: MIT
#include "weft/sync/semaphore.hpp"
#include "weft/carrier/runtime_section.hpp"

namespace weft::sync {

void permits::release(std::ptrdiff_t count) noexcept {
  const sched::runtime_section in;
  const std::scoped_lock held(lock_);
  while (count > 0 && waiters_.offer_one()) {
    --count;
  }
  count_ += count;
}

bool permits::take_locked() noexcept {
  if (count_ == 0) {
    return false;
  }
  --count_;
  return true;
}

bool permits::try_acquire() noexcept {
  const sched::runtime_section in;
  const std::scoped_lock held(lock_);
  return take_locked() || waiters_.take_back();
}

bool permits::try_in_turn() noexcept {
  const sched::runtime_section in;
  const std::scoped_lock held(lock_);
  return take_locked();
}

bool permits::acquire(sched::deadline until, const std::stop_token& stop) {
  const sched::runtime_section in;
  held_lock held(lock_);
  if (take_locked() || (has_passed(until) && waiters_.take_back())) {
    return true;
  }
  offer_queue::place p({unit::wait_kind::semaphore, 0, this});
  return waiters_.wait(held, p, until, stop); // SWITCH: may resume on another worker
}

std::ptrdiff_t permits::count() noexcept {
  const sched::runtime_section in;
  const std::scoped_lock held(lock_);
  return count_ + static_cast<std::ptrdiff_t>(waiters_.offered());
}

} // namespace weft::sync
