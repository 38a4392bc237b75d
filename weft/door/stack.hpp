// SPDX-License-Identifier: MIT
// Stacks that the user supplies.
#pragma once

#include "weft/door/unit.hpp"
#include "weft/memory/stack_depot.hpp"
#include "weft/memory/stack_record.hpp"
#include "weft/os/signal.hpp"

#include <cstddef>
#include <cstdint>

namespace weft::door {

/// Below this a supplied stack cannot hold the record at its end and a first frame.
inline constexpr std::size_t smallest_supplied_stack = 512;

namespace detail {
// The record of a stack stands at its upper end, as in our own.
inline void* stack_record_of(void* low, std::size_t bytes) noexcept {
  const auto first = reinterpret_cast<std::uintptr_t>(low);
  return reinterpret_cast<void*>((first + bytes - sizeof(memory::stack_record)) / 64 * 64);
}
} // namespace detail

/// Gives a new unit (thread_form::supplied) the memory at `low` for its stack, until it is freed. *Contexts*:
/// in the runtime; before the unit is launched. *Switches*: never. *Errors*: std::bad_alloc.
inline void supply_stack(descriptor& u, void* low, std::size_t bytes) {
  auto* record = ::new (detail::stack_record_of(low, bytes)) memory::stack_record{};
  record->low = static_cast<std::byte*>(low);
  record->size = bytes;
  record->inline_floor = memory::stack_options::inline_floor(
      record->low, memory::stack_depot::process().options().inline_need());
  unit::extend(u).stack = record;
}
/// The same for one that has ended and is to be renewed; its stack is the one it had. In two steps: the first
/// may fail, with std::bad_alloc.
inline void prepare_to_supply_again(descriptor& u) {
  if (u.has(unit::supplied_stack))
    static_cast<void>(unit::extend(u));
}
inline void supply_again(descriptor& u, void* low, std::size_t bytes) noexcept {
  if (u.has(unit::supplied_stack))
    unit::extension_of(u)->stack = static_cast<memory::stack_record*>(detail::stack_record_of(low, bytes));
}

/// What a preemptible thread needs beside what it needs itself: the kernel's frame for a signal, which is
/// large on some CPUs, and what its handler calls. *Contexts*: any. *Switches*: never. *Errors*: none.
inline std::size_t bytes_for_preemption() noexcept {
  return os::signal_stack_bytes(4096);
}

} // namespace weft::door
