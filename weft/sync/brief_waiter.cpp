// SPDX-License-Identifier: MIT
#include "weft/sync/brief_waiter.hpp"
#include "weft/carrier/runtime_section.hpp"

#include "weft/arch/arch.hpp"
#include "weft/os/futex.hpp"
#include "weft/sched/switch.hpp"
#include "weft/workers/group.hpp"

namespace weft::sync {
namespace {

/// How long a waiter keeps away before it looks, and then sleeps: a microsecond, about what sleeping and
/// being woken cost (Karlin et al. 1991, competitive spinning). One look, not many: each takes the line from
/// the server, and who is told at once asks again at once, while each request costs the server three lines.
/// By measurement: docs/design/delegation.md.
constexpr int pauses_before_look = 40;

} // namespace

brief_waiter::brief_waiter() noexcept : unit_(sched::on_worker() ? sched::here().current : nullptr) {}

bool brief_waiter::is_notified_soon() const noexcept {
  if (is_notified()) {
    return true; // by the caller, on its way out of the delegator
  }
  if (unit_ != nullptr && sched::here().owner_group.size() == 1) {
    return false;
  }
  for (int i = 0; i < pauses_before_look; ++i) {
    arch::relax();
  }
  return is_notified();
}

void brief_waiter::wait(const unit::wait_record& why) noexcept {
  const sched::runtime_section in;
  if (is_notified_soon()) {
    return;
  }
  if (unit_ == nullptr) {
    return sleep_on_kernel_thread();
  }
  const unit::announced_wait announced(*unit_, why);
  sched::leave(
      [](void* p) {
        auto& self = *static_cast<brief_waiter*>(p);
        unit::descriptor* const u = self.unit_; // read before the word is set: the frame may be gone then
        if (!self.word_.fall_asleep()) {
          sched::make_ready(*u); // (W3)
        }
      },
      this); // SWITCH: may resume on another worker
}

void brief_waiter::sleep_on_kernel_thread() noexcept {
  if (!word_.fall_asleep()) {
    return;
  }
  while (!is_notified()) {
    os::futex_wait(&word_.word(), wait_word::asleep);
  }
}

void brief_waiter::notify() noexcept {
  notify([] {});
}

void brief_waiter::wake(unit::descriptor* u, const base::atomic<std::uint32_t>& word) noexcept {
  if (u != nullptr) {
    sched::make_ready(*u);
  } else {
    os::futex_wake(&word, 1); // by address only: the frame may be gone
  }
}

} // namespace weft::sync
