// SPDX-License-Identifier: MIT
// How a thread makes way for another unit without its worker's loop: between the files of this room.
#pragma once

#include <exception>

#include "weft/base/assert.hpp"
#include "weft/memory/overflow.hpp"
#include "weft/memory/stack_record.hpp"
#include "weft/sched/requests.hpp"
#include "weft/sched/switch.hpp"

namespace weft::sched {

// Whoever leaves or has ended cannot be returned to, so from here every technique starts by a jump.
[[gnu::always_inline]] inline bool can_run_here(worker& w, descriptor& next) noexcept {
  if (next.has(unit::slow_mask | unit::not_cancellable)) [[unlikely]] {
    if (next.has(unit::slow_mask) || !w.on_primary_thread)
      return false;
  }
  return next.has_started() || technique::full_lazy::take_stack(w, next);
}

// put_back() for callers in the runtime, on `w` or on no worker, of which it is the face.
[[gnu::always_inline]] inline void put_back_now(worker& w, descriptor& u) noexcept {
  pool* to = u.own_pool;
  if (u.has(unit::migration_requested)) [[unlikely]] {
    apply_migration(u);
    to = u.own_pool;
  } else if (pool* const hot = w.hot; to != hot && hot != nullptr && to->same_family(*hot)) {
    u.own_pool = hot;
    to = hot;
  }
  // Whoever makes a thread ready has nobody to tell (unlock() does), and nobody else holds the thread.
  try {
    to->push_inside(u); // GONE: u may run already
  } catch (const std::exception& error) {
    base::panic("a thread that is ready is lost: do_push() of its pool has thrown: %s", error.what());
  } catch (...) {
    base::panic("a thread that is ready is lost: do_push() of its pool has thrown");
  }
}

// `w` runs the thread `u`, which its loop, or what stands for it, continues or starts next.
[[gnu::always_inline]] inline void take_place(worker& w, descriptor& u) noexcept {
  // Units of a family float: they go on where they are.
  pool* const hot = w.hot;
  if (hot != nullptr && !u.own_pool.is(hot) && u.own_pool->same_family(*hot))
    u.own_pool = hot;
  u.state.start_running();
  w.current = &u;
}
// The same, and tells who listens.
[[gnu::always_inline]] inline void become(worker& w, descriptor& u) noexcept {
  take_place(w, u);
  w.note(trace::event::run, &u, trace::thread_kind);
}

// Runs `next` in place of `self`, which `then` publishes. `fresh`: it has not started.
inline void replace(worker& w, descriptor& self, descriptor& next, bool fresh, arch::arrival_function then,
                    void* argument) noexcept {
  next.state.start_running();
  w.current = &next;
  if (!fresh) {
    arch::swap_with(self.context, next.context, then, argument); // SWITCH: may resume on another worker
    return;
  }
  w.arrival = then;
  w.arrival_argument = argument;
  arch::save(self.context, next.context, next.stack->initial_stack_pointer(), next.stack->usable(),
             &technique::full_lazy::entry_with_arrival<worker_for_techniques>,
             &next); // SWITCH: may resume on another worker
}

// Of a thread that is about to leave its stack. Contexts: on it.
[[gnu::always_inline]] inline void require_whole_stack(const descriptor& self) noexcept {
  if (!memory::check_canary(*self.stack)) [[unlikely]]
    memory::die_of_overflow(*self.stack);
}

// Leaves `self`, the running thread, whose state says so, for what `w` may run at once, or for its loop; as
// leave().
[[gnu::always_inline]] inline void leave_now(worker& w, descriptor& self, arch::arrival_function then,
                                             void* argument) noexcept {
  WEFT_ASSERT(w.is_here(), "a thread waits on another kernel thread than its worker's");
  require_whole_stack(self);
  if (!w.has_no_quick_pick()) {
    descriptor* next = w.pick_quickly();
    const bool fresh = next != nullptr && !next->has_started();
    if (next != nullptr && can_run_here(w, *next))
      return replace(w, self, *next, fresh, then, argument);
    if (next != nullptr)
      w.handed = next;
  }
  w.timing.running.stop();
  w.current = &w.loop_unit;
  arch::swap_with(self.context, *w.loop, then, argument); // SWITCH: may resume on another worker
}
// The same for a thread that handles an exception.
void leave_from_handler(worker& w, descriptor& self, arch::arrival_function then, void* argument);

// leave() for callers in the runtime, on `w`.
[[gnu::always_inline]] inline void leave_inside(worker& w, arch::arrival_function then, void* argument) {
  descriptor& self = *w.current;
  self.state.block();
  w.note(trace::event::stop_wait, &self);
  if (arch::any(*w.exceptions)) [[unlikely]]
    return leave_from_handler(w, self, then, argument);
  leave_now(w, self, then, argument);
}

// For one that is in no pool, and is called then.
[[gnu::always_inline]] inline void begin_tasklet(worker& w, descriptor& u) noexcept {
  ++w.recording.counters.started;
  u.last_worker.store_relaxed(w.number + 1);
  u.state.start_running();
  w.current = &u;
}

// A tasklet that is in no pool runs on the worker's stack, as its loop would run it, while the caller's
// thread stands. Its end is the caller's to publish.
[[gnu::always_inline]] inline void run_taken_tasklet(worker& w, descriptor& u) {
  descriptor& self = *w.current;
  begin_tasklet(w, u);
  const arch::fp_control mine;
  mine.become_that_of(u.context);
  technique::run_to_completion::run(u, w.base);
  mine.restore();
  w.current = &self;
}

// Publishes the end of `u`, on its worker. GONE: u, unless it was detached and nobody waits. Contexts: in the
// runtime. Switches: never.
void complete(worker& w, descriptor& u) noexcept;

// Tells who listens that `u`, which ran on the stack of `joiner`, has ended, and that this one goes on. On
// the worker, while it still runs `u`. Contexts: in the runtime or in a thread. Switches: never.
void tell_end_of_hosted(descriptor& u, descriptor& joiner) noexcept;

// The caller becomes ready in its pool, and `next`, which is in no pool and nobody else's, runs when the loop
// has looked around. Contexts: thread, in the runtime. Switches: always.
void yield_to_taken_by_loop(descriptor& next);

} // namespace weft::sched
