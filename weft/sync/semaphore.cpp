// SPDX-License-Identifier: MIT
#include "weft/sync/semaphore.hpp"
#include "weft/sched/user_mode.hpp"

namespace weft::sync {

void permits::release(std::ptrdiff_t count) noexcept {
  const sched::runtime_section in;
  const std::scoped_lock held(lock_);
  while (count > 0 && waiters_.notify_one()) {
    --count;
  }
  count_ += count;
}

bool permits::try_acquire() noexcept {
  const sched::runtime_section in;
  const std::scoped_lock held(lock_);
  if (count_ == 0) {
    return false;
  }
  --count_;
  return true;
}

bool permits::acquire(sched::deadline until, const std::stop_token& stop) {
  const sched::runtime_section in;
  held_lock held(lock_);
  if (count_ > 0) {
    --count_;
    return true;
  }
  waiter w({unit::wait_kind::semaphore, 0, this});
  return waiters_.wait(held, w, until, stop) == wait_result::notified; // SWITCH: may resume on another worker
}

std::ptrdiff_t permits::count() noexcept {
  const sched::runtime_section in;
  const std::scoped_lock held(lock_);
  return count_;
}

} // namespace weft::sync
