// SPDX-License-Identifier: MIT
#include "weft/sync/condition_variable.hpp"
#include "weft/carrier/runtime_section.hpp"

#include "weft/sched/switch.hpp"

namespace weft::sync {

void condition_variable_any::enqueue(waiter& w) {
  const sched::runtime_section in;
  if (sched::on_worker()) {
    sched::require_thread("condition_variable::wait");
  }
  const std::scoped_lock held(lock_);
  waiters_.enqueue(w);
}

// Whoever has notified it meanwhile meant somebody who waits.
void condition_variable_any::withdraw(waiter& w) noexcept {
  if (w.decide(wait_result::stopped)) {
    waiters_.leave(lock_, w);
  } else {
    notify(false);
  }
}

void condition_variable_any::notify(bool all) noexcept {
  const sched::runtime_section in;
  const std::scoped_lock held(lock_);
  if (all) {
    waiters_.notify_all();
  } else {
    waiters_.notify_one();
  }
}

} // namespace weft::sync
