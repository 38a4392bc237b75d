// SPDX-License-Identifier: MIT
// The paths that decide what Weft costs: create, yield, yield_to; join.hpp has the join. Inlined into the
// caller, so that the compiler saves only what is live at the switch. Each has a slow twin in lifecycle.cpp
// for all that is rare.
//
// Exceptions: the C++ run time keeps "what is caught now" and "how many fly" per kernel thread. A thread that
// leaves while either is non-zero goes the slow way, which keeps them with the thread.
#pragma once

#include <new>
#include <utility>

#include "weft/carrier/loop.hpp"
#include "weft/sched/call_by_joiner.hpp"
#include "weft/technique/full_lazy.hpp"
#include "weft/technique/run_to_completion.hpp"
#include "weft/unit/extension.hpp"
#include "weft/workers/worker.hpp"

namespace weft::sched {

// What the techniques need of a worker.
struct worker_for_techniques : worker {
  static worker& here() noexcept { return sched::here(); }
  [[noreturn]] WEFT_API static void end_thread() noexcept;
  // The same for one that has returned from its function, so that its stack is free but for a frame or two:
  // threads that nobody joins yet run there one after the other, without a switch.
  [[noreturn]] WEFT_API static void end_returned();
  // For a child whose creator stands where this worker looks next, and has not run since: takes the creator
  // from there and publishes the child's end. False: it must end otherwise.
  WEFT_API static bool end_before_parent(descriptor& u, descriptor& parent) noexcept;
  [[noreturn]] WEFT_API static void end_child(descriptor& u, descriptor& parent) noexcept;
  static descriptor& front_of_list() noexcept { return descriptor::from(*sched::here().fifo->first()); }
};

// --- slow twins (lifecycle.cpp) ---
WEFT_API void yield_slowly();
WEFT_API void yield_to_slowly(descriptor& target);
// Nothing else is ready here: a look around from time to time, so that a caller who spins does not stop the
// rest.
WEFT_API void yield_alone();
// What yield() does where start_yield() has nobody.
WEFT_API void yield_without_successor();
WEFT_API void suspend_to_slowly(descriptor& target);
// A yield whose successor was taken out of the deque and has not started.
WEFT_API void yield_to_unstarted(descriptor& next);
// Makes the unit ready that has just left its stack.
WEFT_API void republish(void* u);
// Takes the stack that an eager technique has from its creation on, if the caller is a worker and memory
// suffices; else it takes it when it starts, as a lazy one. Before `u` is in a pool.
WEFT_API void reserve_stack(descriptor& u) noexcept;
// Child first: `u`, which is in no pool, runs at once, and the caller becomes ready where this worker looks
// first. Where that cannot be (the caller is no thread on a worker of the pool, handles an exception, or no
// stack can be had) `u` is pushed to its pool. Contexts: all but signal handlers. Switches: may.
WEFT_API void start_child(descriptor& u);
// A descriptor from whatever cache the caller may use. Errors: std::bad_alloc.
WEFT_API descriptor& allocate_unit_slowly();
// The same; does not start the runtime.
WEFT_API descriptor& allocate_unit_anywhere();
WEFT_API void free_unit_slowly(descriptor& u) noexcept;
// What all groups share is made before any worker runs: a fork() while it is made would leave it locked in
// the child.
void make_shared_state();
// pool_of_new() where the caller is no worker or in user mode, or creations are recorded.
[[nodiscard]] WEFT_API pool* pool_of_unusual(descriptor& u);
// Puts a new unit into its pool, as the pool's default technique wants it. Switches: where that is
// child-first.
WEFT_API void submit_slowly(descriptor& u);
// The same for a thread of technique T, which is in its traits.
WEFT_API void submit_as(descriptor& u, unit::technique_id t);
// Leaves the running thread: marks it blocked, picks what runs next, and calls `then(argument)` on that
// one's stack, where the thread may be published. Returns when somebody has resumed it. Contexts: thread.
// Switches: always. SWITCH: may resume on another worker.
WEFT_API void leave(arch::arrival_function then, void* argument);
// The same for a caller whose state `then(caller)` sets: it reads `running` until then.
void leave_without_state(arch::arrival_function then);
// The same, continuing `next`, which the caller has taken from wherever it was blocked and which
// can_leave_to() allows.
WEFT_API void leave_to(descriptor& next, arch::arrival_function then, void* argument);
// The same; if `then` returns false the caller goes on, and `next` stays blocked. Returns what `then`
// returned.
WEFT_API bool leave_to_if(descriptor& next, arch::conditional_function then, void* argument);
// Whether the caller is a thread on a worker that may continue `next` in its place.
[[nodiscard]] WEFT_API bool can_leave_to(const descriptor& next) noexcept;
// Starts `u`, which is in no pool, in place of the running thread, which becomes ready. Where that cannot
// be (the caller is no thread on a worker, no stack can be had) `u` is pushed to its pool. Contexts: all
// but signal handlers. Switches: may.
WEFT_API void start_now(descriptor& u);
// A fork from what may not wait for it: throws std::system_error(operation_not_permitted) for tasklets and
// schedulers, returns for foreign kernel threads.
WEFT_API void refuse_fork();
// What a worker does from time to time: timers, event sources, what others ask of it. For long runs of
// forks and joins, which make no other decision. Contexts: thread. Switches: may.
WEFT_API void look_around();
// Before the primary thread computes for long by forks and joins: who stands ready in its worker's list
// begins first, so that a thread made to report progress does not wait for the end. Others do not do so:
// where each of many threads has a loop, all would begin at once. Contexts: all but signal handlers.
// Switches: may.
WEFT_API void let_others_begin();
// Acts on a cancellation or migration that was asked of the running thread. Errors: throws
// unit::exit_request.
WEFT_API void act_on_requests();
// Throws std::system_error(operation_not_permitted) unless the caller is a thread on a worker.
WEFT_API void require_thread(const char* what);
// Makes a blocked unit ready: in the pool of the worker that calls if that one takes units of its family,
// else in its own.
WEFT_API void make_ready(descriptor& u);

// Under a stacked scheduler not what lives outside: what that creates would be born into the stacked one's
// pools, which nobody serves once they were found empty.
[[gnu::always_inline]] inline bool serves(const worker& w, const descriptor& u) noexcept {
  const bool serves_own_pool = u.own_pool.is(w.hot) ||
                               (w.hot != nullptr && u.own_pool->same_family(*w.hot)) ||
                               (u.own_pool->owned_by(w) && w.stacked.schedulers.empty());
  return serves_own_pool &&
         (!u.has(unit::not_cancellable) || w.on_primary_thread); // the primary thread does not move
}

// Starts or continues `next` in place of `self`, which the caller has put where it belongs. `next` has a
// stack.
[[gnu::always_inline]] inline void hand_over(worker& w, descriptor& self, descriptor& next) noexcept {
  next.state.start_running();
  w.current = &next;
  arch::swap(self.context, next.context); // SWITCH: may resume on another worker
}

// A yield in a work-stealing pool: the oldest unit runs next, and the caller goes to the owner's end once
// it has left its stack, since a thief may take it from there. Taking the youngest, as every other decision
// does, would give the caller back to itself.
[[gnu::always_inline]] inline void yield_on_deque(worker& w) {
  descriptor& self = *w.current;
  if (w.deque == nullptr || w.budget.count_down() || self.has(unit::slow_mask) || arch::any(*w.exceptions))
      [[unlikely]] {
    return yield_slowly();
  }
  descriptor* next = w.deque->steal_top_by_owner();
  if (next == nullptr) [[unlikely]]
    return yield_alone();
  if (!next->has_started()) [[unlikely]]
    return yield_to_unstarted(*next);
  self.state.block();
  next->state.start_running();
  w.current = next;
  arch::swap_with(self.context, next->context, &republish, &self); // SWITCH: may resume on another worker
}

// The fast way of yield() on a worker with a list of its own: who runs next, in place of w.current, which
// stands at the end of the list now. Null: there is none, and only the budget may have changed.
[[gnu::always_inline]] inline descriptor* start_yield(worker& w, queue::intrusive_fifo& fifo) noexcept {
  queue::link* head = fifo.first();
  if (head == fifo.end() || w.budget.count_down()) [[unlikely]]
    return nullptr;
  descriptor& self = *w.current;
  descriptor& next = descriptor::from(*head);
  if (!next.has_started() || !self.own_pool.is(w.listed) || self.has(unit::slow_mask) ||
      arch::any(*w.exceptions)) [[unlikely]] {
    return nullptr;
  }
  fifo.pop_first(head);
  self.state.make_ready();
  fifo.push_back(&self.link);
  next.state.start_running();
  w.current = &next;
  return &next;
}

// Lets others run; the caller goes to the end of its pool. Contexts: thread; on a foreign kernel thread it
// is sched_yield(2). Switches: may. Errors: std::system_error(operation_not_permitted) from a tasklet;
// unwinds the thread if it was cancelled.
[[gnu::always_inline]] inline void yield() {
  worker& w = here();
  queue::intrusive_fifo* fifo = w.fifo;
  if (fifo == nullptr)
    return yield_on_deque(w);
  descriptor& self = *w.current;
  descriptor* next = start_yield(w, *fifo);
  if (next != nullptr) [[likely]]
    return arch::swap(self.context, next->context); // SWITCH: may resume on another worker
  return yield_without_successor();
}

// As yield, but `target` runs next if it is ready in a pool that can give it up; the caller takes its place
// there. Else a plain yield.
[[gnu::always_inline]] inline void yield_to(descriptor& target) {
  worker& w = here();
  descriptor& self = *w.current;
  pool* listed = w.listed;
  if (!target.own_pool.is(listed) || !self.own_pool.is(listed) || w.budget.count_down() ||
      !target.state.is(unit::state::ready) || self.has(unit::slow_mask) || arch::any(*w.exceptions))
      [[unlikely]] {
    return yield_to_slowly(target);
  }
  queue::intrusive_fifo::replace(&target.link, &self.link);
  self.state.make_ready();
  hand_over(w, self, target);
}

// Blocks the caller and continues `target`, which is blocked, known to nobody else, and of a pool that this
// worker serves. The caller can be resumed as soon as `target` runs. Contexts: thread. Switches: always.
[[gnu::always_inline]] inline void suspend_to(descriptor& target) {
  worker& w = here();
  descriptor& self = *w.current;
  if (w.budget.count_down() || arch::any(*w.exceptions)) [[unlikely]]
    return suspend_to_slowly(target);
  self.state.block();
  hand_over(w, self, target);
}

// On a kernel thread that is no worker, `w` is a face without caches: no slab belongs to it, so
// free_unit_slowly() is called.
[[gnu::always_inline]] inline void free_unit(worker& w, descriptor& u) noexcept {
  if (!w.caches.descriptors.free_here(&u)) [[unlikely]]
    free_unit_slowly(u);
}

// The pool of a new unit that has none: where the caller's go. Tells of its creation, by the test that is
// needed anyway: nothing is added while nothing is recorded.
[[nodiscard]] inline pool* pool_of_new(descriptor& u) {
  worker& w = here();
  if ((w.attention.load_relaxed() & (not_a_worker | tracing | user_code | worker_has_classes)) != 0)
      [[unlikely]]
    return pool_of_unusual(u);
  return w.hot;
}

// The deque where the caller's new units go, if no technique is chosen for them there.
[[gnu::always_inline]] inline queue::chase_lev_deque<descriptor>* births_deque(const worker& w) noexcept {
  // The deque first: a kernel thread that is no worker has none, and no more than the face of a worker.
  return w.deque != nullptr && w.default_technique == unit::technique_id::automatic ? w.deque : nullptr;
}

// Puts a new unit into the pool where the caller's units go.
[[gnu::always_inline]] inline void submit(worker& w, descriptor& u) {
  if (queue::intrusive_fifo* births = w.births) {
    births->push_back(&u.link);
  } else if (auto* deque = births_deque(w); deque != nullptr && deque->try_push_bottom(&u)) {
    w.hot->announce();
  } else {
    submit_slowly(u);
  }
}

// A descriptor to fill; `w` is a worker with a hot pool.
[[gnu::always_inline]] inline descriptor& allocate_unit(worker& w) {
  descriptor* u = w.caches.descriptors.allocate();
  if (u == nullptr) [[unlikely]]
    throw std::bad_alloc();
  return *u;
}

// Constructs the closure of a unit that is nothing else yet; what fill throws goes on, and the unit is gone
// then.
template <class Fill>
[[gnu::always_inline]] inline descriptor& fill_or_free(descriptor& u, Fill&& fill) {
  try {
    fill(u);
  } catch (...) {
    free_unit(here(), u);
    throw;
  }
  return u;
}

// Makes a unit and puts it into the pool where the caller's units go. `fill(u)` constructs the closure; it
// may throw, and may switch unless `FillIsTrivial`. Contexts: all but signal handlers. Switches: never of
// itself. Errors: std::bad_alloc, std::system_error if the runtime cannot start; what fill throws. Nothing
// is left behind then.
template <bool FillIsTrivial, class Fill>
[[gnu::always_inline]] inline descriptor& create(const unit::operations& o, std::uint64_t traits,
                                                 Fill&& fill) {
  worker& w = here();
  if (FillIsTrivial && w.births != nullptr) [[likely]] {
    descriptor& u = allocate_unit(w);
    unit::initialise(u, o, w.hot, traits);
    fill(u);
    w.births->push_back(&u.link);
    return u;
  }
  if (FillIsTrivial && births_deque(w) != nullptr) [[likely]] {
    descriptor& u = allocate_unit(w);
    unit::initialise(u, o, w.hot, traits);
    fill(u);
    if (!w.deque->try_push_bottom(&u)) [[unlikely]]
      submit_slowly(u);
    w.hot->announce();
    return u;
  }
  descriptor& u = fill_or_free(allocate_unit_slowly(), fill);
  worker& now = here(); // the closure's constructor may have switched
  unit::initialise(u, o, now.hot, traits);
  submit(now, u);
  return u;
}

} // namespace weft::sched
