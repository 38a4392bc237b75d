// SPDX-License-Identifier: MIT
#include "weft/sync/wait_queue.hpp"
#include "weft/carrier/runtime_section.hpp"
#include "weft/sync/parting.hpp"

namespace weft::sync {

wait_result wait_queue::wait(held_lock& held, waiter& w, sched::deadline until, const std::stop_token& stop) {
  const sched::runtime_section in;
  enqueue(w);
  held.unlock();
  return finish(held, w, until, stop);
}

wait_result wait_queue::finish(base::spin_lock& lock, waiter& w, sched::deadline until,
                               const std::stop_token& stop) {
  const sched::runtime_section in;
  held_lock held(lock, std::defer_lock);
  return finish(held, w, until, stop);
}

wait_result wait_queue::finish(held_lock& held, waiter& w, sched::deadline until,
                               const std::stop_token& stop) {
  // Locks once only, and keeps it: once it is out of the list, nothing but the lock keeps the primitive
  // there.
  const auto leave = [&] {
    if (w.part()) { // (W5) else the primitive is gone
      held.lock();
      remove(w);
    }
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

void wait_queue::leave(base::spin_lock& lock, waiter& w) noexcept {
  const sched::runtime_section in;
  if (w.part()) { // (W5)
    const std::scoped_lock held(lock);
    remove(w);
  }
}

void wait_queue::remove(waiter& w) noexcept {
  list_.remove(&w.link);
  size_.store_relaxed(size_.load_relaxed() - 1);
}

std::size_t wait_queue::notify_all() noexcept {
  std::size_t count = 0;
  while (notify_one()) {
    ++count;
  }
  return count;
}

// Who has given up but not left may be a ready thread of this very worker, which cannot run before we are
// done: it is taken out, and finds that (W5) before it touches the primitive. Only one who was faster is
// waited for; he runs, and has but to take the lock.
void wait_queue::drain(base::spin_lock& lock) noexcept {
  const sched::runtime_section in;
  for (;;) {
    {
      const std::scoped_lock held(lock);
      if (!somebody_leaves(list_)) {
        return;
      }
    }
    base::backend::yield_kernel_thread();
  }
}

} // namespace weft::sync
