// SPDX-License-Identifier: MIT
// The worker's side of a session, and the ring. The protocol is argued in recorder.hpp.
#include "weft/trace/recorder.hpp"

#include <new>

#include "weft/base/fence.hpp"
#include "weft/base/knob.hpp"
#include "weft/os/clock.hpp"
#include "weft/os/mapping.hpp"
#include "weft/trace/ring.hpp"
#include "weft/trace/session.hpp"

namespace weft::trace {
namespace {

// 24 bytes each: 1.5 MiB a worker by default, a second of 30,000 switches.
constinit base::integer_knob events_knob{
    "WEFT_TRACE_EVENTS",
    64 << 10,
    {16, 1 << 30},
    base::knob_scale::bytes,
    "events that a worker keeps while tracing, the newest; 24 bytes each"};
const base::knob_list recorder_knobs{events_knob};

} // namespace

ring* ring::make(std::size_t capacity) noexcept {
  auto* fresh = new (std::nothrow) ring{};
  void* memory = nullptr;
  if (fresh == nullptr ||
      os::map(os::round_up_to_page(capacity * sizeof(record)), os::page_access::read_write, &memory) != 0) {
    delete fresh;
    return nullptr;
  }
  fresh->records = static_cast<record*>(memory);
  fresh->capacity = capacity;
  if (!fresh->names.make()) {
    free(fresh);
    return nullptr;
  }
  return fresh;
}

void ring::free(ring* r) noexcept {
  if (r == nullptr) {
    return;
  }
  r->names.free();
  static_cast<void>(os::unmap(r->records, os::round_up_to_page(r->capacity * sizeof(record))));
  delete r;
}

void ring::free_list(ring* first) noexcept {
  while (first != nullptr) {
    ring* following = first->following;
    free(first);
    first = following;
  }
}

recorder::~recorder() {
  detach();
}

void recorder::attach(unsigned number, const counters& kept, switch_function on_switch,
                      void* owner) noexcept {
  session::of_process().attach(*this, number, &kept, on_switch, owner);
}

void recorder::detach() noexcept {
  session::of_process().detach(*this);
}

void recorder::add(event what, const void* unit, std::uint32_t argument, const unit_name* name) noexcept {
  // (T1) relaxed: the fence orders it before the load below; pairs with (T2) in session::stop()
  writing_.store_relaxed(1);
  base::light_fence();
  if (session::recording()) {
    const auto now = static_cast<std::uint64_t>(os::now_ns());
    append(record{now, reinterpret_cast<std::uintptr_t>(unit), argument, what}, name);
  }
  writing_.store_release(0); // (T3) release: publishes the record; pairs with (T4) in session::stop()
}

void recorder::append(record r, const unit_name* name) noexcept {
  ring* mine = ring_.load_relaxed(); // relaxed: written by the owner, or before (T5) in session::start()
  if (mine == nullptr) [[unlikely]] {
    if (epoch_ == 0) {
      return; // not attached: the session would not find the ring
    }
    mine = ring::make(static_cast<std::size_t>(events_knob.get()));
    if (mine == nullptr) {
      ++lost_;
      return;
    }
    mine->number = number_;
    mine->track = track_;
    mine->outside = outside_;
    mine->lost = lost_;
    lost_ = 0;
    ring_.store_relaxed(mine); // relaxed: published by (T3)
  }
  if (name != nullptr) {
    r.argument = run_argument(kind_in(r.argument), mine->names.number_of(*name));
  }
  mine->append(r);
}

void shared_recorder::attach(recorder::switch_function on_switch, void* owner) noexcept {
  recorder_.outside_ = true;
  session::of_process().attach(recorder_, 0, nullptr, on_switch, owner);
  session::of_process().remember(*this);
}

void shared_recorder::add(event what, const void* unit, std::uint32_t argument) noexcept {
  const std::scoped_lock held(lock_);
  recorder_.add(what, unit, argument);
}

// Another kernel thread may have held the lock.
void shared_recorder::forget_after_fork() noexcept {
  ::new (static_cast<void*>(&lock_)) std::mutex;
  recorder_.writing_.store_relaxed(0); // relaxed: there is one kernel thread
  recorder_.on_switch_(recorder_.owner_, false);
}

} // namespace weft::trace
