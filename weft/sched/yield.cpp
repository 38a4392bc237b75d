// SPDX-License-Identifier: MIT
// How a running thread lets others run: the slow twins of switch.hpp's yields.
#include <sched.h>

#include "weft/base/assert.hpp"
#include "weft/carrier/runtime_section.hpp"
#include "weft/sched/calls_units.hpp"
#include "weft/sched/direct.hpp"
#include "weft/sched/replace.hpp"
#include "weft/sched/requests.hpp"
#include "weft/workers/exceptions_kept.hpp"
#include "weft/workers/group.hpp"

namespace weft::sched {
namespace {

void act_on_any_requests() {
  if (here().current->has(unit::cancel_requested | unit::migration_requested)) [[unlikely]]
    act_on_requests();
}

void pin(void* u) {
  worker& w = here();
  auto& self = *static_cast<descriptor*>(u);
  self.traits.fetch_or_relaxed(unit::pinned); // relaxed: of others, only this worker asks
  if (pool* place = w.main_scheduler->pool_of_pinned(self))
    return place->push(self);
  w.local_had_turn = true; // the others come first now, or it would be back at once
  w.local.push(self);
}

} // namespace

void yield_preempted(bool pinned, bool by_tick) {
  worker& w = here();
  WEFT_ASSERT(w.is_here(), "a thread is preempted on another kernel thread than its worker's");
  descriptor& self = *w.current;
  self.state.block();
  w.note(trace::event::stop_yield, &self);
  const exceptions_kept kept(w);
  w.timing.running.stop();
  w.current = &w.loop_unit;
  w.pick_oldest = true;
  w.preemption.left_by_tick = by_tick;
  w.budget -= 1;
  if (by_tick) {
    ++w.preemption.preempted;
    w.budget = -1; // the loop looks at timers: for this worker it may be the only visit in a long time
  }
  const arch::arrival_function then =
      pinned ? &pin : +[](void* u) { put_back(*static_cast<descriptor*>(u)); };
  arch::swap_with(self.context, *w.loop, then, &self); // SWITCH: may resume on another worker
}

namespace {

void put_back_who_left(void* u) {
  put_back_inside(*static_cast<descriptor*>(u));
}

[[gnu::always_inline]] inline void swap_to_loop(worker& w, descriptor& self) {
  w.timing.running.stop();
  w.current = &w.loop_unit;
  w.pick_oldest = true;
  arch::swap_with(self.context, *w.loop, &put_back_who_left, &self); // SWITCH: may resume on another worker
}
[[gnu::noinline]] void swap_to_loop_from_handler(worker& w, descriptor& self) {
  const exceptions_kept kept(w);
  swap_to_loop(w, self);
}

// To the loop in any case: it looks around, then takes what was handed to it or what is next, the oldest
// first. `told`: who listens knows that the caller yields. `w` runs the caller.
[[gnu::always_inline]] inline void leave_to_loop(worker& w, bool told) {
  WEFT_ASSERT(w.is_here(), "a thread switches on another kernel thread than its worker's");
  descriptor& self = *w.current;
  w.budget -= 1; // fast paths count what they do; threads that have none come here each time
  self.state.block();
  if (!told)
    w.note(trace::event::stop_yield, &self);
  if (arch::any(*w.exceptions)) [[unlikely]] {
    swap_to_loop_from_handler(w, self);
  } else {
    swap_to_loop(w, self);
  }
  act_on_any_requests(); // may unwind: what was caught before is back
}
[[gnu::noinline]] void yield_to_loop(bool told = false) {
  leave_to_loop(here(), told);
}

// Whether the running thread may go to the end of the worker's own list without the loop.
bool may_yield_into(const worker& w, const descriptor& next) noexcept {
  const descriptor& self = *w.current;
  return self.own_pool.is(w.listed) && !self.has(unit::slow_mask) && !arch::any(*w.exceptions) &&
         &next != &self;
}

// `next` has a stack and is in no pool.
[[gnu::always_inline]] inline void yield_into_fresh(worker& w, descriptor& next) {
  descriptor& self = *w.current;
  self.state.make_ready();
  w.fifo->push_back(&self.link);
  next.state.start_running();
  w.current = &next;
  arch::save(self.context, next.context, next.stack->initial_stack_pointer(), next.stack->usable(),
             &technique::full_lazy::entry<worker_for_techniques>,
             &next); // SWITCH: may resume on another worker
}

// Where `next` has not started and lives in the pool of the worker's own list, which the caller goes into.
// False: nothing has changed but the budget.
[[gnu::always_inline]] inline bool yield_to_taken_fresh(worker& w, descriptor& next) {
  if (w.fifo == nullptr || w.attention.load_relaxed() != 0 || next.has_started() || !next.is_plain() ||
      !next.own_pool.is(w.listed) || !may_yield_into(w, next) || w.budget.count_down() ||
      !can_run_here(w, next))
    return false;
  yield_into_fresh(w, next); // SWITCH: may resume on another worker
  return true;
}

} // namespace

void yield_to_taken_slowly(descriptor& next) {
  const runtime_section in;
  if (!yield_to_taken_fresh(here(), next)) // SWITCH: may resume on another worker
    yield_to_taken_by_loop(next);
}

namespace {

// The yield of start_yield() where the next in the list has not started: by a jump, without the loop. False:
// nothing has changed but the budget.
bool yield_to_fresh(worker& w) {
  queue::link* head = w.fifo != nullptr ? w.fifo->first() : nullptr;
  if (head == nullptr || head == w.fifo->end() || w.attention.load_relaxed() != 0 || w.budget.count_down())
    return false;
  descriptor& next = descriptor::from(*head);
  if (next.has_started() || !may_yield_into(w, next) || !can_run_here(w, next))
    return false;
  w.fifo->pop_first(head);
  yield_into_fresh(w, next); // SWITCH: may resume on another worker
  return true;
}

// Tasklets that stand before all threads in the worker's own list run as its loop would run them, on its
// stack. Those that come meanwhile stand behind the caller, as they would if it had gone to the end of the
// list first. False: there is none, and nothing has changed but the budget.
WEFT_CALLS_UNITS bool run_tasklets_ahead(worker& w) {
  const queue::link* const last = w.fifo->back();
  bool any = false;
  for (const queue::link* ran = nullptr; ran != last && w.attention.load_relaxed() == 0; any = true) {
    queue::link* const head = w.fifo->first();
    if (head == w.fifo->end())
      break;
    descriptor& u = descriptor::from(*head);
    if (!u.is_fresh_and(unit::kind_tasklet) || w.budget.count_down())
      break;
    w.fifo->pop_first(head);
    ran = head;
    run_taken_tasklet(w, u);
    end_without_stack(w, u); // GONE: u, perhaps
  }
  return any;
}

// The yield of a thread behind tasklets: they run, then who is next, if anybody is. False: there are none
// before the next thread, or more is to be done than that.
bool yield_past_tasklets(worker& w) {
  queue::link* const head = w.fifo != nullptr ? w.fifo->first() : nullptr;
  if (head == nullptr || head == w.fifo->end() || !descriptor::from(*head).is_fresh_and(unit::kind_tasklet) ||
      w.current->has(unit::kind_mask) || !w.current->own_pool.is(w.listed) || !run_tasklets_ahead(w) ||
      w.attention.load_relaxed() != 0)
    return false;
  if (w.fifo->empty())
    return !w.current->has(unit::slow_mask);
  descriptor& self = *w.current;
  descriptor* const next = start_yield(w, *w.fifo);
  if (next != nullptr)
    arch::swap(self.context, next->context); // SWITCH: may resume on another worker
  return next != nullptr;
}

// The yield of a thread whose pool others use too: without the loop. False: nothing has changed but the
// budget.
[[gnu::always_inline]] inline bool yield_in_shared(worker& w) {
  descriptor& self = *w.current;
  if (w.shared == nullptr || !self.own_pool.is(w.shared) || self.has(unit::slow_mask) ||
      arch::any(*w.exceptions))
    return false;
  const bool told = w.attention.any_relaxed(observed);
  if (told) [[unlikely]]
    w.note(trace::event::stop_yield, &self); // before whoever is picked runs
  descriptor* next = w.pick_quickly();
  if (next == nullptr) {
    if (told)
      yield_to_loop(told);
    return told;
  }
  const bool fresh = !next->has_started();
  if (!can_run_here(w, *next)) {
    w.handed = next;
    yield_to_loop();
    return true;
  }
  self.state.block();
  replace(w, self, *next, fresh, &put_back_who_left, &self);
  act_on_any_requests();
  return true;
}

[[gnu::always_inline]] inline bool yield_by_list() {
  return yield_past_tasklets(here()) || yield_to_fresh(here());
}

// Of what is no plain thread: it may not yield, or something is asked of it.
[[gnu::noinline]] void yield_unusual() {
  if (here().current->has(unit::kind_mask))
    require_thread("yield");
  act_on_any_requests();
  yield_to_loop();
}

} // namespace

void yield_slowly() {
  const runtime_section in;
  worker& w = here();
  if (w.attention.any_relaxed(not_a_worker)) [[unlikely]] {
    ::sched_yield();
    return;
  }
  if ((w.fifo != nullptr && yield_by_list()) || yield_in_shared(w))
    return;
  if (w.current->has(unit::kind_mask | unit::cancel_requested | unit::migration_requested)) [[unlikely]]
    return yield_unusual();
  leave_to_loop(w, false);
}

void yield_to_slowly(descriptor& target) {
  const runtime_section in;
  if (!on_worker())
    return yield_slowly();
  require_thread("yield_to");
  act_on_requests(); // before the target is taken: acting may unwind or leave, and nobody would run the
                     // target then
  worker& w = here();
  pool* from = target.own_pool;
  if (&target != w.current && target.kind() != unit::kind_scheduler && from != nullptr &&
      from->remove(target, &w)) {
    w.handed = &target;
  }
  yield_to_loop();
}

void yield_alone() {
  worker& w = here();
  if (w.current->has(unit::slow_mask) || (w.attention.load_relaxed() != 0))
    yield_slowly();
}

void yield_without_successor() {
  worker& w = here();
  if (w.fifo->first() != w.fifo->end() || w.budget.count_down())
    return yield_slowly();
  yield_alone();
}

void yield_to_unstarted(descriptor& next) {
  here().handed = &next;
  yield_to_loop();
}

void republish(void* u) {
  auto& self = *static_cast<descriptor*>(u);
  worker& w = here();
  if (!self.own_pool.is(w.hot) || w.deque == nullptr)
    return put_back(self);
  self.state.make_ready();
  if (!w.deque->try_push_bottom(&self))
    return w.hot->push(self);
  w.hot->announce();
}

// Through the loop, which looks around and then runs the target: threads that only hand over to each other
// would hold up timers and everybody else.
void suspend_to_slowly(descriptor& target) {
  const runtime_section in;
  worker& w = here();
  descriptor& self = *w.current;
  const exceptions_kept kept(w);
  self.state.block();
  w.note(trace::event::stop_wait, &self);
  w.handed = &target;
  w.current = &w.loop_unit;
  arch::swap(self.context, *w.loop); // SWITCH: may resume on another worker
}

} // namespace weft::sched
