// SPDX-License-Identifier: MIT
// The paths of the C API that decide what it costs: a unit made in the caller's own list, joined and freed by
// the same worker. What does not hold goes to the slow twins in thread.cpp. Where tools listen, no worker has
// a list, so these paths need not ask.
#pragma once

#include "front/abt/pool.hpp"
#include "front/abt/unit.hpp"

namespace weft::abt {

// Into the list of the caller's worker, if `home` is that and a descriptor is at hand; else null. Calls
// nothing.
[[gnu::always_inline]] inline descriptor* make_here(worker& w, sched::pool* home, const unit::operations& o,
                                                    std::uint64_t kind, void (*function)(void*),
                                                    void* argument) {
  queue::intrusive_fifo* const fifo = w.births;
  if (fifo == nullptr || w.listed != home) [[unlikely]]
    return nullptr;
  descriptor* const u = w.descriptors.allocate_cached();
  if (u == nullptr) [[unlikely]]
    return nullptr;
  unit::initialise(*u, o, home, kind);
  closure& c = closure_of(*u);
  c.function = function;
  c.argument = argument;
  ::new (static_cast<void*>(&c.info)) std::atomic<unit_info*>(nullptr);
  home->count_unit_here(1);
  fifo->push_back(&u->link);
  return u;
}

// A unit that has ended and of which there is no more than its descriptor. `w` is the caller's.
[[gnu::always_inline]] inline void free_plain(worker& w, descriptor& u) noexcept {
  u.operations = &freed_operations;
  sched::free_unit(w, u);
}
// The same, if that is so.
[[gnu::always_inline]] inline bool free_if_plain(worker& w, descriptor& u, std::uint64_t kind) noexcept {
  if (!u.traits.equals_relaxed(kind)) [[unlikely]]
    return false;
  free_plain(w, u);
  return true;
}

// The end of the accounts of a ULT that has returned, see settle_end().
struct settle_returned {
  [[gnu::always_inline]] static void plain(worker& w, descriptor& u) noexcept {
    if (u.home.is(w.listed)) [[likely]] {
      w.listed->count_unit_here(-1);
    } else {
      settle_end(u);
    }
  }
  static void special(descriptor& u) noexcept { settle_end(u); }
};

// A ULT that has not started runs to its end on the caller's stack, which is not published: the caller's
// worker afterwards. Null: it may not; nothing has changed.
[[gnu::always_inline]] inline worker* run_on_callers_stack(worker& w, descriptor*& u) {
  if constexpr (arch::has_marks) {
    if (sched::inline_join::take_listed(w, *u)) [[likely]] {
      const closure& c = closure_of(*u);
      return &sched::inline_join::run_marked<settle_returned>(w, u, c.function, c.argument);
    }
  }
  return nullptr;
}

// A tasklet that has not started runs on the caller's stack, which is not published. `finish(plain)` does the
// rest, where `plain` says that there is no more of it than its descriptor. False: it may not run; nothing
// has changed.
template <class Finish>
[[gnu::always_inline]] inline bool run_tasklet_on_callers_stack(worker& w, descriptor& u, Finish finish) {
  const closure& c = closure_of(u);
  if (!sched::inline_join::run_tasklet(
          w, u, [&c] { c.function(c.argument); },
          [&w, &c] { arch::call_on(w.base, c.function, c.argument); })) [[unlikely]]
    return false;
  if (u.traits.equals_relaxed(unit::kind_tasklet)) [[likely]] {
    w.listed->count_unit_here(-1);
    finish(true);
  } else {
    settle_end(u);
    sched::end_inlined(u, *w.current);
    finish(false);
  }
  return true;
}
[[gnu::always_inline]] inline void publish_end_of_tasklet(descriptor& u) noexcept {
  u.state.start_running();
  sched::inline_join::publish_end(u);
}

} // namespace weft::abt
