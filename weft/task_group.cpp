// SPDX-License-Identifier: MIT
// Waiting for a group. The last member's decrement happens under the list's lock, and a waiter takes that
// lock before it lets the group go: so the lock is free, and nobody will touch the group, when wait()
// returns.
#include "weft/task_group.hpp"

#include <mutex>

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
  std::lock_guard held(waiters_.lock);
  if (!error_)
    error_ = std::move(error);
}

void task_group::one_ended() noexcept {
  std::int64_t seen = pending_.load_relaxed();
  while (seen > 1) {
    if (pending_.cas_weak_acq_rel(seen, seen - 1))
      return; // (G1) release: part of the release sequence that (G2) reads
  }
  queue::intrusive_fifo ended;
  {
    std::lock_guard held(waiters_.lock);
    if (pending_.fetch_sub_acq_rel(1) != 1)
      return; // somebody ran another one meanwhile
    while (sync::waiter* w = waiters_.pop_front())
      ended.push_back(&w->link);
  } // GONE: *this, if nobody waited by then
  while (queue::link* l = ended.pop_front())
    sync::waiter::from(*l).notify();
}

bool task_group::wait_until(sched::deadline until, const std::stop_token& stop) {
  for (;;) {
    sync::waiter self({unit::wait_kind::task_group, 0, this});
    {
      std::lock_guard held(waiters_.lock);
      if (pending_.load_acquire() == 0)
        return true; // (G2) acquire: pairs with (G1)
      waiters_.push_back(self);
    }
    sync::wait_result how;
    try {
      how = self.wait(until, stop);
    } catch (...) {
      std::lock_guard held(waiters_.lock);
      if (self.link.next != nullptr)
        waiters_.remove(self);
      throw;
    }
    if (how == sync::wait_result::notified)
      continue;
    std::lock_guard held(waiters_.lock);
    waiters_.remove(self);
    return pending_.load_acquire() == 0;
  }
}

void task_group::wait() {
  wait_until(sched::no_deadline, {});
  std::exception_ptr error;
  {
    std::lock_guard held(waiters_.lock);
    error = std::exchange(error_, nullptr);
  }
  if (error)
    std::rethrow_exception(error);
}

} // namespace weft
