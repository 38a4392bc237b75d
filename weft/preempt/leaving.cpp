// SPDX-License-Identifier: MIT
#include "weft/preempt/leaving.hpp"

#include <atomic>
#include <exception>

#include "weft/base/assert.hpp"
#include "weft/base/immortal.hpp"
#include "weft/carrier/leaving.hpp"
#include "weft/carrier/user_mode.hpp"
#include "weft/preempt/preparation.hpp"
#include "weft/preempt/spares.hpp"
#include "weft/preempt/stuck.hpp"
#include "weft/preempt/user_code.hpp"

namespace weft::preempt {
namespace {

class watcher final : public sched::leaving_watcher {
 public:
  void begin(const sched::group&) noexcept override {
    try {
      watch_leaving();
    } catch (const std::exception& error) {
      static std::atomic<bool> said{false};
      if (!said.exchange(true))
        base::warn("threads that wait in the kernel keep their workers: %s", error.what());
    }
  }
  void end() noexcept override { stop(); }
};

} // namespace

void see_to_leaving() noexcept {
  sched::watcher_of_leaving.store(&base::immortal<watcher>(), std::memory_order_release);
}

namespace {

// Not on the home of a worker, which is not for keeping: there it only learns to keep away from homes, for it
// must not go to another kernel thread in the midst of a call of libc's.
void leave_from_user_mode(sched::user_mode& thread) noexcept {
  if (!thread.is_entering() && !thread.is_away() && !thread.keeps_worker())
    static_cast<void>(thread.let_worker_go());
}

// Nobody ticks it again: where no spare is in hand it makes some, as it could itself call pthread_create().
void leave_or_make_spares(sched::worker& w) noexcept {
  if (sched::leave_worker(w))
    return;
  make_spares();
  static_cast<void>(sched::leave_worker(w));
}

} // namespace

void leave_before_wait(const void* to) noexcept {
  sched::worker_face& face = sched::here();
  if (face.attention.any_relaxed(sched::not_a_worker | sched::without_worker | sched::simulated))
    return;
  if (sched::is_in_user_mode(face))
    return leave_from_user_mode(sched::user_mode::behind(face));
  auto& w = static_cast<sched::worker&>(face);
  if (may_leave_now(w) && is_called_by_user_code(to))
    leave_or_make_spares(w);
}

} // namespace weft::preempt
