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
  queue::intrusive_fifo* const fifo = w.fifo;
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

// A unit that has ended here and never needed a unit_info.
[[gnu::always_inline]] inline bool free_here(descriptor& u) noexcept {
  if (closure_of(u).info.load(std::memory_order_relaxed) != nullptr) [[unlikely]]
    return false;
  u.operations = &freed_operations;
  sched::free_unit(sched::here(), u);
  return true;
}

// A tasklet that its joiner has run: published as ended, for who still has the handle.
[[gnu::always_inline]] inline void end_run_by_join(descriptor& u) noexcept {
  u.state.start_running();
  u.state.finish();
  u.join.finish_for_committed();
}

} // namespace weft::abt
