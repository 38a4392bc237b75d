// SPDX-License-Identifier: MIT
#include "weft/sync/wait_queue.hpp"
#include "weft/sched/user_mode.hpp"

namespace weft::sync {

wait_result wait_queue::wait(held_lock& held, waiter& w, sched::deadline until, const std::stop_token& stop) {
  base::spin_lock& lock = *held.mutex();
  enqueue(w);
  held.unlock();
  wait_result how = wait_result::stopped;
  try {
    how = finish(lock, w, until, stop);
  } catch (...) {
    held.lock();
    throw;
  }
  if (how != wait_result::notified) {
    held.lock();
  }
  return how;
}

wait_result wait_queue::finish(base::spin_lock& lock, waiter& w, sched::deadline until,
                               const std::stop_token& stop) {
  const sched::runtime_section in;
  const auto leave = [&] {
    const std::scoped_lock held(lock);
    list_.remove(&w.link);
    size_.store_relaxed(size_.load_relaxed() - 1);
  };
  wait_result how = wait_result::notified;
  try {
    how = w.wait(until, stop); // SWITCH: may resume on another worker
  } catch (...) {
    if (!w.decide(wait_result::stopped)) {
      return wait_result::notified; // somebody was faster, and has given us what he had
    }
    leave();
    throw;
  }
  if (how != wait_result::notified) {
    leave();
  }
  return how;
}

std::size_t wait_queue::notify_all() noexcept {
  std::size_t count = 0;
  while (notify_one()) {
    ++count;
  }
  return count;
}

void wait_queue::drain(base::spin_lock& lock) noexcept {
  for (;;) {
    {
      const std::scoped_lock held(lock);
      bool somebody_leaves = false;
      for (queue::link* l = list_.first(); l != list_.end(); l = l->next) {
        somebody_leaves = somebody_leaves || waiter::from(*l).is_decided();
      }
      if (!somebody_leaves) {
        return;
      }
    }
    base::backend::yield_kernel_thread();
  }
}

} // namespace weft::sync
