// SPDX-License-Identifier: MIT
// A join that runs the unit by a plain call on the joiner's own stack. The joiner could do nothing else
// anyway: if the unit deviates, both wait together, the joiner reads "blocked", and whoever resumes the unit
// goes on on this stack. The unit keeps its identity: it is `current`, has its own local storage and its own
// place in pools.
#pragma once

#include "weft/arch/arch.hpp"
#include "weft/sched/switch.hpp"
#include "weft/unit/descriptor.hpp"
#include "weft/unit/extension.hpp"

namespace weft::sched {

// Bytes of stack that must be left for a unit to run on its joiner's: enough for libc's printf with an
// AVX-512 signal frame on top. Below that it gets a stack of its own.
inline constexpr std::ptrdiff_t inline_reserve = 32 << 10;

class inline_call {
 public:
  // Takes `u` out of its pool if this worker may and the caller's stack suffices. False: nothing has changed.
  [[gnu::always_inline]] static bool may_run(worker& w, unit::descriptor& u) noexcept {
    unit::descriptor& self = *w.current;
    auto* deque = w.deque;
    if (deque == nullptr || self.has(unit::slow_mask)) [[unlikely]]
      return may_run_from_list(w, u);
    if (static_cast<std::byte*>(__builtin_frame_address(0)) - self.stack->low < inline_reserve) [[unlikely]]
      return false;
    // A thief may have started it and this worker made it ready again: it is back at this end of the deque
    // then, but half done. Only this worker pushes here, so a unit that is fresh now is fresh when it is
    // popped.
    if (!u.state.is(unit::state::fresh)) [[unlikely]]
      return false;
    return deque->pop_bottom_if(&u);
  }

  [[gnu::always_inline]] inline_call(worker& w, unit::descriptor& u) noexcept
      : worker_(w), joiner_(*w.current), unit_(u) {
    u.stack = joiner_.stack; // so that it counts as started where it deviates
    arch::sanitizer::share_fiber(u.context.fiber, joiner_.context.fiber);
    w.current = &u;
  }
  inline_call(const inline_call&) = delete;
  inline_call& operator=(const inline_call&) = delete;

  // On the way out, by return or by exception.
  [[gnu::always_inline]] ~inline_call() {
    if (unit_.has(unit::extended)) [[unlikely]]
      end_inlined(unit_, joiner_);
    worker& w = here(); // SWITCH: the unit may have moved to another worker, and the joiner's stack with it
    w.current = &joiner_;
    if (w.budget.count_down() || &w != &worker_) [[unlikely]]
      settle_after_inline_call();
  }

 private:
  static bool may_run_from_list(worker& w, unit::descriptor& u) noexcept {
    unit::descriptor& self = *w.current;
    if (w.fifo == nullptr || self.has(unit::slow_mask) || !u.own_pool.is(w.listed) ||
        !u.state.is(unit::state::fresh))
      return false;
    if (static_cast<std::byte*>(__builtin_frame_address(0)) - self.stack->low < inline_reserve)
      return false;
    queue::intrusive_fifo::unlink(&u.link);
    return true;
  }

  worker& worker_; // when it began
  unit::descriptor& joiner_;
  unit::descriptor& unit_;
};

} // namespace weft::sched
