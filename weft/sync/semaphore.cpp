// SPDX-License-Identifier: MIT
#include "weft/sync/semaphore.hpp"

namespace weft::sync {

void permits::release(std::ptrdiff_t count) noexcept {
  const std::scoped_lock held(lock_);
  while (count > 0 && waiters_.notify_one()) {
    --count;
  }
  count_ += count;
}

bool permits::try_acquire() noexcept {
  const std::scoped_lock held(lock_);
  if (count_ == 0) {
    return false;
  }
  --count_;
  return true;
}

bool permits::acquire(sched::deadline until, const std::stop_token& stop) {
  held_lock held(lock_);
  if (count_ > 0) {
    --count_;
    return true;
  }
  waiter w({unit::wait_kind::semaphore, 0, this});
  return waiters_.wait(held, w, until, stop) == wait_result::notified; // SWITCH: may resume on another worker
}

std::ptrdiff_t permits::count() noexcept {
  const std::scoped_lock held(lock_);
  return count_;
}

} // namespace weft::sync
