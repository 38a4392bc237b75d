// SPDX-License-Identifier: MIT
// The slow twins of direct.hpp, and threads that stand for the loop.
#include "weft/sched/direct.hpp"

#include <optional>
#include <utility>

#include "weft/base/assert.hpp"
#include "weft/carrier/runtime_section.hpp"
#include "weft/sched/replace.hpp"
#include "weft/workers/exceptions_kept.hpp"

namespace weft::sched {
namespace {

// By way of the loop, which looks around, honours requests and knows fresh units, then runs `next`.
void leave_by_loop(descriptor& next, trace::event what, arch::arrival_function then) {
  worker& w = here();
  descriptor& self = *w.current;
  w.note(what, &self);
  const exceptions_kept kept(w);
  w.handed = &next;
  w.current = &w.loop_unit;
  arch::swap_with(self.context, *w.loop, then, &self); // SWITCH: may resume on another worker
}

// A child that leaves must come back to its parent, not go on with what is next in the worker's own list.
class fast_paths_off {
 public:
  explicit fast_paths_off(worker& w) noexcept
      : worker_(w), fifo_(w.fifo), deque_(w.deque), listed_(w.listed), shared_(w.shared) {
    asked_before_ = (w.attention.fetch_or_relaxed(always_ask) & always_ask) != 0;
    w.fifo = nullptr;
    w.births = nullptr;
    w.deque = nullptr;
    w.listed = nullptr;
    w.shared = nullptr;
  }
  ~fast_paths_off() {
    worker_.fifo = fifo_;
    worker_.deque = deque_;
    worker_.listed = listed_;
    worker_.shared = shared_;
    worker_.refresh_births();
    if (!asked_before_)
      worker_.attention.fetch_and_relaxed(~std::uint32_t{always_ask});
  }
  fast_paths_off(const fast_paths_off&) = delete;
  fast_paths_off& operator=(const fast_paths_off&) = delete;

 private:
  worker& worker_;
  queue::intrusive_fifo* const fifo_;
  queue::chase_lev_deque<descriptor>* const deque_;
  pool* const listed_;
  pool* const shared_;
  bool asked_before_;
};

void publish_suspended(void* u) {
  static_cast<descriptor*>(u)->state.suspend(); // GONE: u
}

} // namespace

void yield_to_taken_by_loop(descriptor& next) {
  here().current->state.block();
  leave_by_loop(next, trace::event::stop_yield, [](void* u) { put_back(*static_cast<descriptor*>(u)); });
  act_on_requests();
}

void suspend_to_taken_slowly(descriptor& next) {
  const runtime_section in;
  leave_by_loop(next, trace::event::stop_wait, &publish_suspended);
  act_on_requests();
}

void suspend_until_taken() {
  const runtime_section in;
  leave_without_state(&publish_suspended);
  act_on_requests();
}

namespace {

// As worker::run(), which does what is left: a plain thread is started or continued without a call.
template <bool Told>
[[gnu::always_inline]] inline void run_from(worker& w, arch::context& loop, descriptor& u) noexcept {
  using technique::full_lazy;
  const bool fresh = !u.has_started();
  if (u.has(unit::slow_mask | unit::not_cancellable) ||
      (fresh && (u.has(unit::technique_mask) || !full_lazy::take_stack(w, u)))) [[unlikely]]
    return w.run(u);
  u.last_worker.store_relaxed(w.number + 1);
  take_place(w, u);
  if constexpr (Told)
    w.note(trace::event::run, &u, trace::thread_kind);
  if (!fresh)
    return arch::swap(loop, u.context);
  ++w.recording.counters.started;
  arch::save(loop, u.context, u.stack->initial_stack_pointer(), u.stack->usable(),
             &full_lazy::entry<worker_for_techniques>, &u);
}

// Who has yielded to here (start_yield_to_parent()) becomes ready, and what was handed over runs.
[[gnu::always_inline]] inline void settle_child(worker& w) noexcept {
  for (;;) {
    if (descriptor* const u = w.left) {
      w.left = nullptr;
      put_back_now(w, *u); // GONE: u
    }
    if (w.handed == nullptr) [[likely]]
      return;
    w.run(*std::exchange(w.handed, nullptr));
  }
}

// The loop that this worker's units leave to is the caller's frame meanwhile: nobody else continues the
// caller. `Told`: somebody may be told of it.
template <bool Told>
[[gnu::always_inline]] inline void run_in_place_of_loop(worker& w, descriptor& first) noexcept {
  descriptor& self = *w.current;
  arch::context* outer = std::exchange(w.loop, &self.context);
  ++w.nesting;
  run_from<Told>(w, self.context, first);
  settle_child(w);
  --w.nesting;
  w.loop = outer;
  w.current = &self;
}

[[gnu::always_inline]] inline void look_around_if_due(worker& w) noexcept {
  if (w.budget.count_down())
    w.look_around();
}

// Under a scheduler of the user's there are no fast paths, and nobody calls it while he handles an exception.
[[gnu::noinline]] void run_child_with_care(worker& w, descriptor& first) noexcept {
  const exceptions_kept kept(w);
  std::optional<fast_paths_off> slow;
  if (w.fifo != nullptr || w.deque != nullptr || w.shared != nullptr)
    slow.emplace(w);
  run_in_place_of_loop<true>(w, first);
  slow.reset();
  look_around_if_due(w);
}

} // namespace

void run_child(descriptor& first) noexcept {
  worker& w = here();
  if (may_run_child_at_once(w)) {
    run_child_at_once(w, first);
  } else {
    run_child_with_care(w, first);
  }
}

int run_child_at_once(worker& w, descriptor& first) noexcept {
  run_in_place_of_loop<false>(w, first);
  look_around_if_due(w);
  return 0;
}

int run_tasklet_at_once(worker& w, descriptor& u) noexcept {
  if (!u.traits.equals_relaxed(unit::kind_tasklet)) [[unlikely]] // something is asked of it
    return run_child_at_once(w, u);
  descriptor& self = *w.current;
  ++w.nesting;
  begin_tasklet(w, u);
  const arch::fp_control mine;
  mine.become_that_of_quickly(u.context);
  technique::run_to_completion::call(u);
  mine.restore_quickly();
  w.current = &w.loop_unit;
  if (u.traits.equals_relaxed(unit::kind_tasklet)) [[likely]] {
    complete(w, u); // GONE: u, perhaps
  } else {
    end_without_stack(w, u); // GONE: u, perhaps
  }
  WEFT_ASSERT(w.handed == nullptr && w.left == nullptr, "a tasklet has left its worker");
  --w.nesting;
  w.current = &self;
  look_around_if_due(w);
  return 0;
}

bool can_leave_to(const descriptor& next) noexcept {
  const runtime_section in;
  worker& w = here();
  // In a simulation what runs on the way could not be left.
  return (w.attention.load_relaxed() & (not_a_worker | simulated)) == 0 &&
         w.current->kind() == unit::kind_thread && serves(w, next) && !next.has(unit::slow_mask);
}

bool leave_to_if(descriptor& next, arch::conditional_function then, void* argument) {
  const runtime_section in;
  worker& w = here();
  if (w.budget.count_down()) [[unlikely]]
    w.look_around(); // does not switch: the caller may have taken `next` out of a list
  descriptor& self = *w.current;
  const exceptions_kept kept(w);
  self.state.block();
  next.state.start_running();
  w.note(trace::event::stop_wait, &self);
  w.note(trace::event::run, &next);
  w.current = &next;
  const bool left =
      arch::cond_swap(self.context, next.context, then, argument); // SWITCH: may resume on another worker
  worker& now = here();
  if (!left) {
    next.state.block();
    self.state.start_running();
    now.current = &self;
  }
  return left;
}

void leave_to(descriptor& next, arch::arrival_function then, void* argument) {
  struct always {
    arch::arrival_function then;
    void* argument;
  } a{then, argument};
  leave_to_if(
      next,
      [](void* p) {
        const always copy = *static_cast<always*>(p); // `then` may publish the frame that holds it
        copy.then(copy.argument);
        return true;
      },
      &a);
}

} // namespace weft::sched
