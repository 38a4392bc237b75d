// SPDX-License-Identifier: MIT
// Switches that name what runs next: a unit that the caller has taken out of its pool ("taken": nobody else
// knows it, and its state reads `posted`), or that is suspended. For interfaces whose programs write
// schedulers as threads. All of them: *Contexts*: thread; where nothing else is said, in the runtime. What
// was asked of the next unit (cancel, migrate) is carried out first, and something else may run then.
//
// Functions of C that switch are called on one stack and return on another, and go back to their callers by a
// jump: the fast ways are the forms that end in `_and_return`, which return 0 to the caller of the function
// they are inlined into and need no runtime_section; the slow ones are exported by WEFT_EXPORT_SWITCHING. A
// fast way that is none has changed nothing, and returns what `slowly()` does.
#pragma once

#include "weft/door/unit.hpp"

#include <cstdint>

namespace weft::door {

// --- who may be taken ---

/// Taken, and held by whoever popped it. *Contexts*: any. *Switches*: never. *Errors*: none.
[[nodiscard]] inline bool is_taken(const descriptor& u) noexcept {
  return u.state.is(unit::state::posted);
}
/// Says of a unit that is in no pool that it is the caller's.
inline void mark_taken(descriptor& u) noexcept {
  u.state.post();
}
/// Takes one that suspend_until_taken() or suspend_to() has suspended; false: it is not, or another was
/// faster. *Contexts*: any. *Switches*: never. *Errors*: none.
[[nodiscard]] inline bool take_suspended(descriptor& u) noexcept {
  return u.state.take_suspended();
}
/// Makes ready what take_suspended() has taken. *Switches*: never. *Errors*: none.
[[gnu::always_inline]] inline void resume_taken(descriptor& u) {
  sched::resume_taken(u);
}

// --- the slow ways ---

/// Others run, and the caller when its turn comes. *Contexts*: all but signal handlers. *Switches*: may.
/// *Errors*: none; what ends the caller passes.
[[gnu::always_inline]] inline void yield() {
  sched::yield();
}
/// The same for loops that have nothing to do: whatever waits at the runtime's border is looked at, too.
inline void yield_thoroughly() {
  sched::yield_slowly();
}
/// The caller becomes ready in its pool. *Switches*: always. *Errors*: as yield(), and below.
[[gnu::always_inline]] inline void yield_to_taken(descriptor& next) {
  sched::yield_to_taken(next);
}
/// The same for one that has not started, by a call: a caller that does nothing else saves no registers.
inline void yield_to_new(descriptor& next) {
  sched::yield_to_taken_slowly(next);
}
/// The caller is suspended when it has left its stack. *Switches*: always.
[[gnu::always_inline]] inline void suspend_to_taken(descriptor& next) {
  sched::suspend_to_taken(next);
}
/// The same, and the worker chooses what runs next. *Switches*: always.
inline void suspend_until_taken() {
  sched::suspend_until_taken();
}
/// Ends the caller, as end_now() does. *Switches*: always.
[[noreturn]] inline void end_to_taken(descriptor& next) noexcept {
  sched::end_to_taken(next);
}
/// Starts or continues `u` with the caller in the place of the worker's loop: returns when it has ended or
/// left, or what it was replaced by. The caller stays on its worker. *Switches*: always, unless `u` is a
/// tasklet.
inline void run_child(descriptor& u) noexcept {
  sched::run_child(u);
}

// --- the fast ways ---

/// The caller yields to the first of its worker's own list. `without_list(w)`: what follows where its
/// worker `w` has none.
template <class Slowly, class WithoutList>
[[gnu::always_inline]] inline int yield_and_return(Slowly slowly, WithoutList without_list) noexcept {
  worker& w = sched::here();
  if (w.fifo == nullptr) [[unlikely]]
    return without_list(w);
  descriptor* self = w.current;
  descriptor* next = sched::start_yield(w, *w.fifo);
  if (next == nullptr) [[unlikely]]
    return slowly();
  return arch::swap_and_return(self->context, next->context); // SWITCH: may resume on another worker
}
/// The caller, which `w` runs, yields to the thread that runs it by run_child(). `prepare(self)`: before it
/// does.
template <class Slowly, class Prepare>
[[gnu::always_inline]] inline int yield_to_parent_and_return(worker& w, Slowly slowly,
                                                             Prepare prepare) noexcept {
  if (!sched::may_yield_to_parent(w)) [[unlikely]]
    return slowly();
  descriptor& self = *w.current;
  prepare(self);
  // SWITCH: may resume on another worker
  return arch::swap_and_return(self.context, sched::start_yield_to_parent(w));
}
namespace detail {
[[gnu::always_inline]] inline bool may_run_at_once(const worker& w, const descriptor& u) noexcept {
  return sched::may_run_child_at_once(w) && w.current != &u && w.front != nullptr;
}
} // namespace detail
/// run_child() of a thread of the front's that is taken.
template <class Slowly>
[[gnu::always_inline]] inline int run_thread_and_return(descriptor& u, Slowly slowly) noexcept {
  worker& w = sched::here();
  return detail::may_run_at_once(w, u) ? sched::run_child_at_once(w, u) : slowly();
}
/// The same of a tasklet.
template <class Slowly>
[[gnu::always_inline]] inline int run_tasklet_and_return(descriptor& u, Slowly slowly) noexcept {
  worker& w = sched::here();
  return detail::may_run_at_once(w, u) ? sched::run_tasklet_at_once(w, u) : slowly();
}

namespace detail {
[[gnu::always_inline]] inline int yield_into(worker& w, descriptor& self, descriptor& next) noexcept {
  sched::start_yield_into(w, self, next);
  return arch::swap_and_return(self.context, next.context); // SWITCH: may resume on another worker
}
[[gnu::always_inline]] inline int suspend_into(worker& w, descriptor& self, descriptor& next) noexcept {
  w.current = &next;
  // SWITCH: may resume on another worker
  return arch::swap_publishing_and_return(self.context, next.context, self.state.word(),
                                          static_cast<std::uint8_t>(unit::state::suspended));
}
} // namespace detail

/// The caller yields to `next`, which is ready in its worker's own list. `is_thread`: it is one of the
/// front's; else it is not looked at.
template <class Slowly>
[[gnu::always_inline]] inline int yield_to_ready_and_return(descriptor* next, bool is_thread,
                                                            Slowly slowly) noexcept {
  worker& w = sched::here();
  if (is_thread) [[likely]] {
    descriptor& target = *next;
    if (target.own_pool.is(w.listed) && target.state.is(unit::state::ready)) [[likely]] {
      descriptor& self = *w.current;
      if (self.own_pool.is(w.listed) && sched::can_switch_to_started(w, self, target)) [[likely]] {
        queue::intrusive_fifo::unlink(&target.link);
        return detail::yield_into(w, self, target);
      }
    }
  }
  return slowly();
}

/// The caller yields to `next`, which is taken.
template <class Slowly>
[[gnu::always_inline]] inline int yield_to_taken_and_return(descriptor* next, bool is_thread,
                                                            Slowly slowly) noexcept {
  worker& w = sched::here();
  if (is_thread && w.fifo != nullptr) [[likely]] {
    descriptor& self = *w.current;
    descriptor& target = *next;
    if (self.own_pool.is(w.listed) && target.state.is(unit::state::posted) &&
        sched::can_switch_to_taken(w, self, target)) [[likely]]
      return detail::yield_into(w, self, target);
  }
  return slowly();
}

/// The caller is suspended, and `next`, which is taken, runs.
template <class Slowly>
[[gnu::always_inline]] inline int suspend_to_taken_and_return(descriptor* next, bool is_thread,
                                                              Slowly slowly) noexcept {
  worker& w = sched::here();
  if (is_thread && w.fifo != nullptr) [[likely]] {
    descriptor& self = *w.current;
    descriptor& target = *next;
    if (sched::can_switch_to_taken(w, self, target) && target.state.is(unit::state::posted)) [[likely]] {
      target.state.start_running();
      return detail::suspend_into(w, self, target);
    }
  }
  return slowly();
}

/// The same for a `next` that is suspended: it is nobody else's now, and as running as it will be.
template <class Slowly>
[[gnu::always_inline]] inline int suspend_to_suspended_and_return(descriptor* next, bool is_thread,
                                                                  Slowly slowly) noexcept {
  worker& w = sched::here();
  if (is_thread && w.fifo != nullptr) [[likely]] {
    descriptor& self = *w.current;
    descriptor& target = *next;
    // Who is suspended has started.
    if (sched::can_switch_to_started(w, self, target) && target.state.start_suspended()) [[likely]]
      return detail::suspend_into(w, self, target);
  }
  return slowly();
}

} // namespace weft::door
