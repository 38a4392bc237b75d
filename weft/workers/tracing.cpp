// SPDX-License-Identifier: MIT
// What workers tell: to a recording (trace room), and to a front that observes them. All of it is behind one
// test of `attention`, or of `listeners_to_units`, on paths that test it anyway.
#include <cstddef>
#include <cstring>
#include <new>

#include "weft/base/immortal.hpp"
#include "weft/memory/overflow.hpp"
#include "weft/trace/name_table.hpp"
#include "weft/trace/session.hpp"
#include "weft/unit/extension.hpp"
#include "weft/workers/worker.hpp"

namespace weft::sched {

constinit std::atomic<observer> observe{nullptr};
constinit base::atomic<std::uint32_t> observed_events{0};
constinit std::atomic<void (*)(descriptor&) noexcept> observe_ready{nullptr};
WEFT_API constinit base::atomic<std::uint32_t> listeners_to_units{0};

void set_listening(listener who, bool on) noexcept {
  if (on) {
    listeners_to_units.fetch_or_acq_rel(who);
  } else {
    listeners_to_units.fetch_and_acq_rel(~std::uint32_t{who});
  }
}

namespace {

// A bit that stands until it is taken back, and that decides whether there are fast paths.
void set_standing(worker& w, std::uint32_t bit, bool on) noexcept {
  if (on) {
    w.attention.fetch_or_acq_rel(bit);
  } else {
    w.attention.fetch_and_acq_rel(~bit);
  }
  w.call(refresh_waiting);
}

// Kernel threads that are no workers record too: they make units, and make them ready. Never destroyed: they
// may do so while statics are.
trace::shared_recorder& outside() noexcept {
  return base::immortal<trace::shared_recorder>();
}

void trace_outside(void*, bool on) noexcept {
  set_listening(trace_listens, on);
  worker_face& face = face_of_others();
  if (on) {
    face.attention.fetch_or_acq_rel(tracing);
  } else {
    face.attention.fetch_and_acq_rel(~std::uint32_t{tracing});
  }
}

// For people: the name it was given, else its function.
trace::unit_name name_of(descriptor& u) noexcept {
  trace::unit_name name{};
  if (u.has(unit::extended)) {
    const auto given = unit::copy_name(u);
    static_assert(sizeof given == sizeof name.given);
    std::memcpy(name.given, given.data(), sizeof name.given);
  }
  const unit::operations& o = *u.operations;
  name.label = o.label;
  name.function = o.name != nullptr ? o.name : reinterpret_cast<const void*>(o.run);
  if (o.name_at != 0)
    std::memcpy(&name.function, reinterpret_cast<const char*>(&u) + o.name_at, sizeof name.function);
  return name;
}

} // namespace

void worker::attach_recorder() noexcept {
  trace::session::of_process().describe_with(&memory::describe_address);
  outside().attach(&trace_outside, nullptr);
  recording.recorder.attach(
      number, recording.counters,
      [](void* w, bool on) { set_standing(*static_cast<worker*>(w), tracing, on); }, this);
}

void worker::set_observed(bool on) noexcept {
  set_standing(*this, observed, on);
}

namespace {

void tell_observer(worker& w, trace::event what, const void* unit, std::uint32_t argument) noexcept {
  const std::uint32_t told_of = observed_events.load_relaxed(); // relaxed: only spares the call
  if ((told_of >> static_cast<unsigned>(what) & 1) == 0)
    return;
  if (const observer tell = observe.load(std::memory_order_acquire))
    tell(w, what, unit, argument);
}

// For a recording, and then for the observer. `w` is no more than a face where the caller is no worker.
[[gnu::noinline]] void record(worker& w, trace::event what, const void* unit,
                              std::uint32_t argument) noexcept {
  if (w.attention.any_relaxed(not_a_worker))
    return outside().add(what, unit, argument);
  if (what == trace::event::run) {
    const trace::unit_name name = name_of(*static_cast<descriptor*>(const_cast<void*>(unit)));
    w.recording.recorder.add(what, unit, argument, &name);
  } else {
    w.recording.recorder.add(what, unit, argument);
  }
  if (w.attention.any_relaxed(observed))
    tell_observer(w, what, unit, argument);
}

} // namespace

void worker::note_slowly(trace::event what, const void* unit, std::uint32_t argument) noexcept {
  if (attention.any_relaxed(not_a_worker | tracing))
    return record(*this, what, unit, argument);
  tell_observer(*this, what, unit, argument);
}

void tell_ready(descriptor& u) noexcept {
  if ((listeners_to_units.load_relaxed() & trace_listens) != 0) // relaxed: only tells whom to ask
    note_here(trace::event::ready, &u);
  if (auto* const tell = observe_ready.load(std::memory_order_acquire))
    tell(u);
}

} // namespace weft::sched
