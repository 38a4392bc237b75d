// SPDX-License-Identifier: MIT
// How a wait sleeps and wakes, on a worker and outside.
#include "weft/sync/waiter.hpp"
#include "weft/carrier/runtime_section.hpp"

#include <cerrno>
#include <optional>

#include "weft/os/clock.hpp"
#include "weft/os/futex.hpp"
#include "weft/sched/switch.hpp"
#include "weft/simulator/simulation.hpp"
#include "weft/workers/group.hpp"

namespace weft::sync {

waiter::waiter(const unit::wait_record& what) noexcept
    : why(what), unit_(sched::on_worker() ? sched::here().current : nullptr) {}

std::size_t waiter::offset_of_link() noexcept {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored                                                                               \
    "-Winvalid-offsetof" // not standard layout for the virtual base; one fixed place all the same
  return offsetof(waiter, link);
#pragma GCC diagnostic pop
}

wait_result waiter::wait(sched::deadline until, const std::stop_token& stop) {
  const sched::runtime_section in;
  if (has_passed(until)) [[unlikely]]
    return pass(stop);
  if (sched::on_worker())
    sched::require_thread("this wait");
  else
    sched::simulation::refuse_others("wait");
  if (until != sched::no_deadline && unit_ != nullptr) {
    sched::worker& w = sched::here();
    w.timing.queue.arm(*this, until);
    w.owner_group.wake_before(until);
  }
  struct stopper {
    waiter* self;
    void operator()() const noexcept { self->decide(wait_result::stopped); }
  };
  if (stop.stop_possible()) {
    const std::stop_callback<stopper> on_stop(stop, stopper{this});
    sleep(until);
  } else {
    sleep(until);
  } // the callback has returned or will never run
  if (until != sched::no_deadline && unit_ != nullptr)
    sched::timer_queue::disarm(*this);
  return static_cast<wait_result>(state_.load()); // (W2)
}

// Nobody need be woken: the thread has not left.
wait_result waiter::pass(const std::stop_token& stop) {
  if (!is_decided())
    let_others_run(); // SWITCH: may resume on another worker
  decide(stop.stop_requested() ? wait_result::stopped : wait_result::timed_out);
  return static_cast<wait_result>(state_.load()); // (W2)
}

void waiter::sleep(sched::deadline until) {
  if (state_.load() > wait_word::asleep)
    return;
  if (unit_ == nullptr)
    return sleep_on_kernel_thread(until);
  const unit::announced_wait announced(*unit_, why);
  sched::leave(
      [](void* p) {
        auto& self = *static_cast<waiter*>(p);
        unit::descriptor* u = self.unit_;
        if (!self.state_.fall_asleep())
          sched::make_ready(*u); // (W3)
      },
      this);
}

void waiter::sleep_on_kernel_thread(sched::deadline until) noexcept {
  if (!state_.fall_asleep())
    return;
  while (state_.load() == wait_word::asleep) {
    if (until == sched::no_deadline) {
      os::futex_wait(&state_.word(), wait_word::asleep);
    } else if (os::futex_wait_until(&state_.word(), wait_word::asleep, until) == ETIMEDOUT) {
      static_cast<void>(state_.decide(static_cast<std::uint32_t>(wait_result::timed_out)));
    }
  }
}

bool waiter::decide(wait_result how) noexcept {
  return decide(how, [] {});
}

void waiter::wake(unit::descriptor* u, const base::atomic<std::uint32_t>& word) noexcept {
  if (u != nullptr) {
    sched::make_ready(*u);
  } else {
    os::futex_wake(&word, 1); // by address only: the frame may be gone
  }
}

} // namespace weft::sync
