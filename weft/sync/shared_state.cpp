// SPDX-License-Identifier: MIT
#include "weft/sync/shared_state.hpp"
#include "weft/carrier/runtime_section.hpp"

namespace weft::sync {

void throw_future_error(std::future_errc why) {
  throw std::future_error(why);
}

bool shared_state_base::wait(sched::deadline until, const std::stop_token& stop) {
  const sched::runtime_section in;
  if (ready()) {
    return true;
  }
  held_lock held(lock_);
  if (ready()) {
    return true;
  }
  waiter w({unit::wait_kind::future, 0, this});
  return waiters_.wait(held, w, until, stop) == wait_result::notified; // SWITCH: may resume on another worker
}

void shared_state_base::wait_and_rethrow() {
  static_cast<void>(wait(sched::no_deadline, {}));
  if (exception_ != nullptr) {
    std::rethrow_exception(exception_);
  }
}

void shared_state_base::publish() noexcept {
  const sched::runtime_section in;
  const std::scoped_lock held(lock_);
  ready_.store_release(true); // (P1) release: pairs with ready()
  waiters_.notify_all();
}

void shared_state_base::abandon() noexcept {
  if (claim()) {
    try {
      exception_ = std::make_exception_ptr(std::future_error(std::future_errc::broken_promise));
    } catch (...) { // std::bad_alloc: no memory for the error's words
      exception_ = std::current_exception();
    }
    publish();
  }
}

} // namespace weft::sync
