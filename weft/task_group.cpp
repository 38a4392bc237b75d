// SPDX-License-Identifier: MIT
// Waiting for a group. The last member's decrement happens under the lock, and the destructor takes that lock
// before it lets the group go: so nobody touches the group after it, whoever was let go destroys it.
#include "weft/task_group.hpp"
#include "weft/carrier/runtime_section.hpp"

#include <mutex>
#include <utility>

#include "weft/sched/switch.hpp"

namespace weft {

task_group::~task_group() {
  try {
    wait_until(sched::no_deadline, {});
  } catch (...) { // from a tasklet: it may not wait, and then it must not have left members behind
    if (pending_.load_acquire() != 0)
      std::terminate();
  }
  waiters_.drain(lock_); // the last member may be at the end of letting go
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
    let_all_go();
} // GONE: *this, once the lock is free

// The error moves to the first one who asks for it: whoever is let go need not look at the group again, which
// another of them may have destroyed. It moves, so that no second reference is left that would free it here.
void task_group::let_all_go() noexcept {
  std::exception_ptr* lent = nullptr; // where the error is while it is not known whether that one is let go
  const auto take_back = [&] {
    if (lent != nullptr)
      error_ = std::move(*std::exchange(lent, nullptr));
  };
  const auto give = [&](sync::waiter& w) {
    take_back(); // the one before gives up by itself
    auto* const wanted = static_cast<std::exception_ptr*>(w.tag);
    if (wanted == nullptr || error_ == nullptr)
      return;
    *wanted = std::move(error_);
    lent = wanted;
  };
  while (waiters_.notify_one(give))
    lent = nullptr;
  take_back();
}

bool task_group::wait_until(sched::deadline until, const std::stop_token& stop, std::exception_ptr* error) {
  const sched::runtime_section in;
  sync::held_lock held(lock_);
  if (pending_.load_acquire() == 0) { // (G2) acquire: pairs with (G1)
    if (error != nullptr)
      *error = std::exchange(error_, nullptr);
    return true;
  }
  sync::waiter self({unit::wait_kind::task_group, 0, this});
  self.tag = error;
  if (waiters_.wait(held, self, until, stop) == sync::wait_result::notified) // SWITCH: may resume elsewhere
    return true;                                                             // GONE: *this
  return held.owns_lock() && pending_.load_acquire() == 0;
}

void task_group::wait() {
  sched::let_others_begin();
  std::exception_ptr error;
  wait_until(sched::no_deadline, {}, &error);
  if (error)
    std::rethrow_exception(std::move(error));
}

} // namespace weft
