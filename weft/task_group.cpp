// SPDX-License-Identifier: MIT
// Waiting for a group. The last member's decrement happens under the lock, and a waiter takes that lock
// before it lets the group go: so the lock is free, and nobody will touch the group, when wait() returns.
#include "weft/task_group.hpp"

#include <mutex>

#include "weft/sched/user_mode.hpp"

namespace weft {

task_group::~task_group() {
  try {
    wait_until(sched::no_deadline, {});
  } catch (...) { // from a tasklet: it may not wait, and then it must not have left members behind
    if (pending_.load_acquire() != 0)
      std::terminate();
  }
}

void task_group::keep(std::exception_ptr error) noexcept {
  const sched::runtime_section in;
  const std::scoped_lock held(lock_);
  if (!error_)
    error_ = std::move(error);
}

void task_group::one_ended() noexcept {
  const sched::runtime_section in;
  std::int64_t seen = pending_.load_relaxed();
  while (seen > 1) {
    if (pending_.cas_weak_acq_rel(seen, seen - 1))
      return; // (G1) release: part of the release sequence that (G2) reads
  }
  const std::scoped_lock held(lock_);
  if (pending_.fetch_sub_acq_rel(1) == 1) // else somebody ran another one meanwhile
    waiters_.notify_all();
} // GONE: *this, once the lock is free

bool task_group::wait_until(sched::deadline until, const std::stop_token& stop) {
  const sched::runtime_section in;
  for (;;) {
    sync::held_lock held(lock_);
    if (pending_.load_acquire() == 0)
      return true; // (G2) acquire: pairs with (G1)
    sync::waiter self({unit::wait_kind::task_group, 0, this});
    if (waiters_.wait(held, self, until, stop) != sync::wait_result::notified) // SWITCH: may resume elsewhere
      return pending_.load_acquire() == 0;
  }
}

void task_group::wait() {
  wait_until(sched::no_deadline, {});
  std::exception_ptr error;
  {
    const sched::runtime_section in;
    const std::scoped_lock held(lock_);
    error = std::exchange(error_, nullptr);
  }
  if (error)
    std::rethrow_exception(error);
}

} // namespace weft
