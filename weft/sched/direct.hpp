// SPDX-License-Identifier: MIT
// Switches that name what runs next, a unit which the caller has taken out of its pool ("taken": nobody else
// knows it), and running a unit as the loop of the worker would. For fronts whose users write schedulers as
// threads (Argobots' ABT_self_*_to and ABT_self_schedule).
//
// All of them: Contexts: thread. `next` may be fresh or started, a thread or a tasklet, and of any pool; what
// was asked of it (cancel, migrate) is carried out first, and something else may run then.
#pragma once

#include "weft/sched/switch.hpp"

namespace weft::sched {

// --- slow twins (direct.cpp) ---
WEFT_API void yield_to_taken_slowly(descriptor& next);
WEFT_API void suspend_to_taken_slowly(descriptor& next);

// Whether the caller may leave, and `next` go on, by a fast path; both are threads and `next` has started.
// The primary thread goes the slow way, which sends it to its own kernel thread.
[[gnu::always_inline]] inline bool can_switch_to_started(worker& w, const descriptor& self,
                                                         const descriptor& next) noexcept {
  return !w.budget.count_down() && !self.has(unit::slow_mask) &&
         !next.has(unit::slow_mask | unit::not_cancellable) && !arch::any(*w.exceptions);
}
[[gnu::always_inline]] inline bool can_switch_to_taken(worker& w, const descriptor& self,
                                                       const descriptor& next) noexcept {
  return next.has_started() && can_switch_to_started(w, self, next);
}

// The caller stands at the end of the worker's own list, which is its pool's, and `next` runs once the caller
// has left its stack: by arch::swap().
[[gnu::always_inline]] inline void start_yield_into(worker& w, descriptor& self, descriptor& next) noexcept {
  WEFT_ASSERT(next.has_started(), "a ready thread has started");
  self.state.make_ready();
  w.fifo->push_back(&self.link);
  next.state.start_running();
  w.current = &next;
}

// The caller becomes ready in its pool. Switches: always.
[[gnu::always_inline]] inline void yield_to_taken(descriptor& next) {
  worker& w = here();
  descriptor& self = *w.current;
  if (w.fifo == nullptr || !self.own_pool.is(w.listed) || !can_switch_to_taken(w, self, next)) [[unlikely]]
    return yield_to_taken_slowly(next);
  start_yield_into(w, self, next);
  arch::swap(self.context, next.context); // SWITCH: may resume on another worker
}

// The caller reads `suspended` once it has left its stack, and is then whoever's takes it: unit::state_word::
// take_suspended(). Switches: always.
[[gnu::always_inline]] inline void suspend_to_taken(descriptor& next) {
  worker& w = here();
  descriptor& self = *w.current;
  // The fast paths record nothing, so they are for workers that have a list.
  if (w.fifo == nullptr || !can_switch_to_taken(w, self, next)) [[unlikely]]
    return suspend_to_taken_slowly(next);
  next.state.start_running();
  w.current = &next;
  // SWITCH: may resume on another worker
  arch::swap_publishing(self.context, next.context, self.state.word(),
                        static_cast<std::uint8_t>(unit::state::suspended));
}

// As suspend_to_taken(), and the worker chooses what runs next.
WEFT_API void suspend_until_taken();

// Makes ready what take_suspended() has taken.
inline void resume_taken(descriptor& u) {
  put_back(u);
}

// Ends the running thread without unwinding its stack: destructors of its frames do not run.
[[noreturn]] WEFT_API void end_now() noexcept;
[[noreturn]] WEFT_API void end_to_taken(descriptor& next) noexcept;

// Starts or continues `u` with the caller in the place of the worker's loop: returns when it (or what it was
// replaced by through the switches above) has ended or left. The caller stays on its worker. Contexts:
// thread, in the runtime. Switches: always, unless `u` is a tasklet.
WEFT_API void run_child(descriptor& u) noexcept;

// Whether `w`, which runs the caller, is a cooperative thread's own, has no list, and tells nobody what units
// do. What else is asked of it is for its loop.
[[nodiscard, gnu::always_inline]] inline bool has_none_but_users_loop(const worker& w) noexcept {
  constexpr std::uint32_t heeded =
      always_ask | not_a_worker | tracing | observed | user_code | simulated | without_worker;
  return (w.attention.load_relaxed() & heeded) == always_ask;
}

// run_child() where may_run_child_at_once(), as the last thing that a function of C does: returns 0.
[[nodiscard, gnu::always_inline]] inline bool may_run_child_at_once(const worker& w) noexcept {
  return has_none_but_users_loop(w) && w.shared == nullptr && !w.current->has(unit::kind_mask) &&
         !arch::any(*w.exceptions);
}
WEFT_API int run_child_at_once(worker& w, descriptor& u) noexcept;
// The same for a tasklet: by a call.
WEFT_API int run_tasklet_at_once(worker& w, descriptor& u) noexcept;

// Whether the caller, which `w` runs, may yield by start_yield_to_parent().
[[nodiscard, gnu::always_inline]] inline bool may_yield_to_parent(const worker& w) noexcept {
  return has_none_but_users_loop(w) && w.nesting != 0 && !w.current->has(unit::slow_mask) &&
         !arch::any(*w.exceptions) && !w.timing.running.is_counted();
}
// A join by such a caller: it waits until `u` has ended. False: it may not, and nothing has changed.
// Switches: always, if true.
[[nodiscard]] WEFT_API bool wait_under_users_loop(worker& w, descriptor& u);
// The caller becomes ready in its pool when it has left its stack for that of the thread that runs it in the
// place of a loop, by arch::swap_and_return() to what this returns.
[[nodiscard, gnu::always_inline]] inline arch::context& start_yield_to_parent(worker& w) noexcept {
  descriptor& self = *w.current;
  self.state.block();
  w.left = &self;
  w.current = &w.loop_unit;
  return *w.loop;
}

} // namespace weft::sched
