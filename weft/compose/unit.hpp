// SPDX-License-Identifier: MIT
// A thread of a composed runtime, as its parts see it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "weft/queue/link.hpp"

namespace weft::compose {

struct no_attributes {};

namespace detail {
template <class Scheduler>
struct attributes_of {
  using type = no_attributes;
};
template <class Scheduler>
  requires requires { typename Scheduler::attributes; }
struct attributes_of<Scheduler> {
  using type = typename Scheduler::attributes;
};
} // namespace detail

// What a thread may differ in: whatever the page's scheduler asks to know (its `attributes`, if it has any).
template <class P>
using attributes = typename detail::attributes_of<typename P::template scheduler<P>>::type;

// Ownership: who made it ready hands it over; who takes it out of a queue, or runs on it, owns every field
// but `end`. `end` is shared by the thread and its joiner. Ordering: (CE1) release of the thread's last
// exchange, pairs with (CE2), the joiner's acquire.
template <class P>
struct unit {
  using context_type = typename P::context::type;
  using stack_type = typename P::stack_source::stack;
  // `end`: nobody waits; a joiner's address; else one of these.
  enum : std::uintptr_t { running = 0, ended = 1, detached = 2 };

  alignas(64) context_type context; // valid while it has started and does not run
  queue::link link;                 // for containers that link their units
  const std::byte* floor; // a frame above it leaves room for an inline join; null: it has not started
  stack_type* stack;      // its own; meaningless while it runs on its joiner's
  void (*run)(unit&);     // closure_of<unit, ...>::run
  typename P::template atomic<std::uintptr_t> end;
  alignas(8) std::byte closure[24];
  bool own_stack; // by its technique; only looked at where the page's techniques differ in it
  [[no_unique_address]] compose::attributes<P> attributes;

  static unit& from(queue::link& l) noexcept {
    return *reinterpret_cast<unit*>(reinterpret_cast<char*>(&l) - offsetof(unit, link));
  }
  [[nodiscard]] bool has_started() const noexcept { return floor != nullptr; }
};

} // namespace weft::compose
