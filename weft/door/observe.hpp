// SPDX-License-Identifier: MIT
// Telling a tool what units do. One front of the process may do so at a time. While it does, the workers that
// are observed record what they do, which takes the slow paths; else it costs a load of one flag where a unit
// is made, joined or freed.
#pragma once

#include "weft/door/unit.hpp"

#include <atomic>
#include <cstdint>

namespace weft::door {

/// What an observed worker tells: run, stop_yield, stop_wait, stop_end of a unit, and more that is a
/// recording's.
using event = trace::event;
/// *Contexts*: on the worker, in the runtime, between units or in one that is about to leave.
using event_observer = void (*)(worker& w, event what, const void* unit, std::uint32_t argument) noexcept;
/// Of each thread that waited and becomes ready, by whoever makes it so.
using ready_observer = void (*)(descriptor& u) noexcept;

/// Whether anybody wants to know of units that are made or become ready, a recording (weft/trace.hpp) too:
/// then note_made(), note_ready(). Relaxed: only tells whom to ask. *Contexts*: any. *Switches*: never.
/// *Errors*: none.
[[nodiscard]] inline bool units_are_watched() noexcept {
  return sched::listeners_to_units.load_relaxed() != 0;
}
/// Whether a recording is among those who want to know. *Contexts*, *Switches*, *Errors*: as
/// units_are_watched().
[[nodiscard]] inline bool units_are_recorded() noexcept {
  return (sched::listeners_to_units.load_relaxed() & sched::trace_listens) != 0;
}
/// For recordings: what the caller, wherever it runs, has done to a unit. *Contexts*: in the runtime.
/// *Switches*: never. *Errors*: none.
inline void note_made(const descriptor& u) noexcept {
  sched::note_here(event::create, &u);
}
inline void note_ready(const descriptor& u) noexcept {
  sched::note_here(event::ready, &u);
}

/// For a set of events.
[[nodiscard]] constexpr std::uint32_t bit_of(event e) noexcept {
  return std::uint32_t{1} << static_cast<unsigned>(e);
}

/// Whom a front has told, and of what. What nobody is told of costs next to nothing.
struct observers {
  event_observer of_events = nullptr;
  std::uint32_t events = 0;          // of which, by bit_of()
  ready_observer of_ready = nullptr; // null: of none
  bool of_units = false;             // whether it asks units_are_watched(); of_ready needs it
};
/// Sets who is told; each worker is told by observe() besides. The observers stay valid until no worker runs
/// that was observed. *Contexts*: in the runtime; one caller at a time. *Switches*: never. *Errors*: none.
inline void set_observers(const observers& o) noexcept {
  sched::observe.store(o.of_events, std::memory_order_release);
  sched::observed_events.store_relaxed(o.events);
  sched::observe_ready.store(o.of_ready, std::memory_order_release);
  sched::set_listening(sched::tool_listens, o.of_units);
}
/// Whether `w` tells of what it does, from its next look at its scheduler on. *Contexts*, *Switches*,
/// *Errors*: as set_observers(); any caller.
inline void observe(worker& w, bool on) noexcept {
  w.set_observed(on);
}

/// Whether a cancelled thread is unwinding its stack: its end was not its function's. *Contexts*: in an
/// observer.
[[nodiscard]] inline bool is_unwinding(const descriptor& u) noexcept {
  return u.has(unit::unwinding);
}

} // namespace weft::door
