// SPDX-License-Identifier: MIT
#include "weft/sync/barrier.hpp"
#include "weft/carrier/runtime_section.hpp"

namespace weft::sync {

bool phases::arrive(std::ptrdiff_t count, std::ptrdiff_t dropped, std::uint64_t& phase) noexcept {
  const sched::runtime_section in;
  const std::scoped_lock held(lock_);
  WEFT_ASSERT(count > 0 && count <= left_, "more arrivals at a barrier than the phase expects");
  phase = phase_;
  expected_ -= dropped;
  left_ -= count;
  return left_ == 0;
}

phases::met phases::meet(const std::stop_token& stop) {
  const sched::runtime_section in;
  held_lock held(lock_);
  WEFT_ASSERT(left_ > 0, "more arrivals at a barrier than the phase expects");
  if (--left_ == 0) {
    return met::as_last;
  }
  waiter w({unit::wait_kind::barrier, 0, this});
  // GONE: *this, if notified. SWITCH: may resume on another worker
  const wait_result how = waiters_.wait(held, w, sched::no_deadline, stop);
  return how == wait_result::notified ? met::all : met::not_all;
}

void phases::finish() noexcept {
  const sched::runtime_section in;
  const std::scoped_lock held(lock_);
  left_ = expected_;
  ++phase_;
  waiters_.notify_all();
}

bool phases::wait(std::uint64_t phase, sched::deadline until, const std::stop_token& stop) {
  const sched::runtime_section in;
  held_lock held(lock_);
  if (phase_ != phase) {
    return true;
  }
  waiter w({unit::wait_kind::barrier, 0, this});
  return waiters_.wait(held, w, until, stop) == wait_result::notified; // SWITCH: may resume on another worker
}

} // namespace weft::sync
