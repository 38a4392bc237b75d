// SPDX-License-Identifier: MIT
#include "weft/sync/latch.hpp"
#include "weft/carrier/runtime_section.hpp"

#include "weft/base/assert.hpp"

namespace weft::sync {

void latch::count_down(std::ptrdiff_t by) noexcept {
  const sched::runtime_section in;
  std::ptrdiff_t seen = count_.load_relaxed();
  while (seen > by) {
    if (count_.cas_weak_acq_rel(seen, seen - by)) { // (L1) release
      return;
    }
  }
  // The last step is taken under the lock, which the destructor takes as well: who sees 0 may destroy the
  // latch.
  const std::scoped_lock held(lock_);
  const std::ptrdiff_t left = count_.fetch_sub_acq_rel(by) - by; // (L1)
  WEFT_ASSERT(left >= 0, "a latch is counted down below 0");
  if (left == 0) {
    waiters_.notify_all();
  }
}

// In one step: the caller stands in the queue before the last step can be taken, which needs the lock, and
// need not look at the latch again, which may be gone by then.
bool latch::meet(std::ptrdiff_t by, const std::stop_token& stop) {
  const sched::runtime_section in;
  held_lock held(lock_);
  const std::ptrdiff_t left = count_.fetch_sub_acq_rel(by) - by; // (L1)
  WEFT_ASSERT(left >= 0, "a latch is counted down below 0");
  if (left == 0) {
    waiters_.notify_all();
    return true;
  }
  waiter w({unit::wait_kind::latch, 0, this});
  return waiters_.wait(held, w, sched::no_deadline, stop) == wait_result::notified; // SWITCH: as in wait()
}

bool latch::wait(sched::deadline until, const std::stop_token& stop) const {
  const sched::runtime_section in;
  if (try_wait()) {
    return true;
  }
  held_lock held(lock_);
  if (try_wait()) {
    return true;
  }
  waiter w({unit::wait_kind::latch, 0, this});
  return waiters_.wait(held, w, until, stop) == wait_result::notified; // SWITCH: may resume on another worker
}

} // namespace weft::sync
