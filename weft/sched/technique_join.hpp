// SPDX-License-Identifier: MIT
// create() of switch.hpp and join() of join.hpp for a technique that is known when the caller is compiled.
// Whatever is not the plain case goes the way of attributes (join.cpp, techniques.cpp).
#pragma once

#include "weft/sched/join.hpp"
#include "weft/technique/called.hpp"
#include "weft/technique/child_first.hpp"

namespace weft::sched {

using unit::technique_id;

// A child-first start with nothing special about it, on a worker with a list of its own. False: not so;
// nothing has changed but the budget of decisions.
template <technique_id T>
[[gnu::always_inline]] inline bool start_child_listed(worker& w, descriptor& u) {
  using technique::child_first;
  descriptor& self = *w.current;
  if (arch::sanitizer::watches_frames || w.fifo == nullptr || !self.own_pool.is(w.listed) ||
      w.budget.count_down() || self.has(unit::slow_mask) || arch::any(*w.exceptions) ||
      !technique::full_lazy::take_default_stack(w, u, T)) [[unlikely]]
    return false;
  self.state.make_ready();
  w.fifo->push_front(&self.link);
  u.state.start_running();
  w.current = &u;
  descriptor* child = &u;
  if constexpr (!child_first::returns(T)) {
    arch::save(self.context, u.context, u.stack->initial_stack_pointer(), u.stack->usable(),
               &child_first::entry_listed<worker_for_techniques>, &u); // SWITCH: may resume on another worker
  } else if (technique::called::call_marked(self.context, child,
                                            &child_first::entry_of_listed_call<worker_for_techniques>)) {
    worker& now = here(); // SWITCH: the child may have moved, and taken its creator with it
    if constexpr (!unit::keeps_stack(T))
      technique::full_lazy::give_stack_back(now, *child);
    now.current = &self;
    self.state.start_running();
    return true;
  }
  if (!child->join.has_ended())
    child->traits.fetch_or_relaxed(unit::parent_left);
  return true;
}

// A new thread on a worker with a list of its own; T is child first or has its stack from now on.
template <technique_id T>
[[gnu::always_inline]] inline void launch(worker& w, descriptor& u) {
  if constexpr (unit::is_child_first(T)) {
    if (!start_child_listed<T>(w, u)) [[unlikely]]
      start_child(u);
  } else {
    arch::idle_word(u.context) = w.caches.stacks.allocate();
    w.fifo->push_back(&u.link);
  }
}

// Contexts, switches, errors: as create(); child-first techniques: as start_child().
template <technique_id T, bool FillIsTrivial, class Fill>
[[gnu::always_inline]] inline descriptor& create_of(const unit::operations& o, Fill&& fill) {
  constexpr std::uint64_t traits = unit::kind_thread | unit::technique_trait(T);
  if constexpr (!unit::is_child_first(T) && !unit::has_stack_at_creation(T)) {
    return create<FillIsTrivial>(o, traits, std::forward<Fill>(fill));
  } else {
    worker& w = here();
    if (FillIsTrivial && w.fifo != nullptr) [[likely]] {
      descriptor& u = allocate_unit(w);
      unit::initialise(u, o, w.hot, traits);
      fill(u);
      launch<T>(w, u);
      return u;
    }
    descriptor& u = fill_or_free(allocate_unit_slowly(), fill);
    unit::initialise(u, o, pool_of_new(u),
                     traits); // here() anew: the closure's constructor may have switched
    submit_as(u, T);
    return u;
  }
}

// Starts `u`, which has been taken and has its stack, for its joiner, by a jump; returns when it has ended.
[[gnu::always_inline]] inline void leave_from_joiner(worker& w, descriptor& joiner, descriptor& u) {
  u.join.wait_before_start(joiner);
  joiner.state.block();
  u.state.start_running();
  w.current = &u;
  arch::save(joiner.context, u.context, u.stack->initial_stack_pointer(), u.stack->usable(),
             &technique::full_lazy::entry_from_joiner<worker_for_techniques>,
             &u); // SWITCH: may resume on another worker
}

// Calls `u`, which has been taken and has its stack, for its joiner, the running thread: once the call
// returns it has ended.
[[gnu::always_inline]] inline void call_from_joiner(worker& w, descriptor& joiner, descriptor& u,
                                                    technique_id t) {
  u.join.wait_before_start(joiner);
  joiner.state.block();
  u.state.start_running();
  w.current = &u;
  descriptor* returned = &u;
  if (technique::called::saves_nothing(u, t)) {
    technique::called::call(u, &technique::called::entry_from_joiner);
  } else if (!technique::called::call_marked(joiner.context, returned,
                                             &technique::called::entry_from_joiner)) {
    return; // it left its frames, and has ended
  }
  if (!returned->is_plain()) [[unlikely]]
    end_hosted(*returned); // SWITCH: destructors are the user's code
  worker& now = here();
  technique::full_lazy::give_stack_back(now, *returned);
  returned->state.finish();
  returned->join.finish_for_committed();
  now.current = &joiner;
  joiner.state.go_on();
  if (&now != &w) [[unlikely]]
    settle_after_inline_call();
}

// A fresh thread of technique T in the worker's own list, started by its joiner on a stack of its own.
template <technique_id T>
[[gnu::always_inline]] inline bool start_listed(worker& w, descriptor& u) {
  descriptor& self = *w.current;
  if (!u.own_pool.is(w.listed) || !u.is_fresh_and(unit::kind_thread | unit::technique_trait(T)) ||
      w.budget.count_down() || self.has(unit::kind_mask) || arch::any(*w.exceptions)) [[unlikely]]
    return false;
  if (!technique::full_lazy::take_default_stack(w, u, T)) [[unlikely]]
    return false;
  queue::intrusive_fifo::unlink(&u.link);
  if constexpr (technique::called::possible && technique::called::includes(T)) {
    call_from_joiner(w, self, u, T);
  } else {
    leave_from_joiner(w, self, u);
  }
  return true;
}

// Contexts, switches, errors: as join().
template <technique_id T>
[[gnu::always_inline]] inline void join_of(descriptor& u) {
  worker& w = here();
  if constexpr (T >= technique_id::full && T <= technique_id::ss_lazy) {
    if (start_listed<T>(w, u)) [[likely]]
      return;
  } else if constexpr (T == technique_id::automatic || T == technique_id::sc ||
                       T == technique_id::inline_join) {
    constexpr std::uint64_t traits = unit::kind_thread | unit::technique_trait(T);
    call_by_joiner::host self;
    if (call_by_joiner::take_listed(w, u, self, traits)) [[likely]] {
      call_by_joiner::run(w, self, u, traits);
      return;
    }
  }
  if (!u.join.has_ended())
    return join_slowly(u);
  if constexpr (unit::keeps_stack(T))
    release_kept_stack(u);
}

} // namespace weft::sched
