// SPDX-License-Identifier: MIT
// Preemptible threads that somebody wants to have something done, wherever they are in user mode: a front's
// signals, for one.
#include "weft/base/fence.hpp"
#include "weft/carrier/user_mode.hpp"
#include "weft/os/signal.hpp"
#include "weft/workers/ticker.hpp"

namespace weft::sched {

constinit std::atomic<interruption> heed_interruption{nullptr};

// (I1) Sets, heavy fence, looks where the thread runs. The thread shows that it runs there, and then looks
// whether it is set: go_to_user_mode(), and who has called it. So it sees that, or is sent a tick.
void user_mode::interrupt() noexcept {
  interrupted_.store_release(1);
  base::heavy_fence();
  if (ticker* const ticks = ticker_of_process.load(std::memory_order_acquire))
    ticks->interrupt(*this);
}

void user_mode::heed_soon() const noexcept {
  if (!is_interrupted()) [[likely]] // pairs with (I1)
    return;
  if (ticker* const ticks = ticker_of_process.load(std::memory_order_acquire))
    ticks->tick_here();
}

bool user_mode::heed() noexcept {
  if (interrupted_.exchange_acq_rel(0) == 0)
    return false;
  const interruption heed = heed_interruption.load(std::memory_order_acquire);
  if (heed == nullptr || !heed(unit_))
    return false;
  calls_ended_.store_relaxed(calls_ended_.load_relaxed() + 1); // relaxed: its own, and its handlers'
  return true;
}

bool user_mode::stays_on_signal_stack() const noexcept {
  return kind_ != preemption::own_kernel_thread && os::is_on_signal_stack();
}
bool user_mode::stays_on_signal_stack(const ucontext_t& interrupted) const noexcept {
  return kind_ != preemption::own_kernel_thread && os::is_on_signal_stack(interrupted);
}

} // namespace weft::sched
