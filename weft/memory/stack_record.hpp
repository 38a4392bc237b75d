// SPDX-License-Identifier: MIT
// What a stack is handed out as: one line at the top of the stack, in the page that its first frames touch
// anyway, so that neither taking nor returning a stack touches a page or a TLB entry of its own. The initial
// stack pointer is the record's own address.
//
//   low end of the stride                                                              high end
//   | guard (stack_options::guard_bytes) | low ... nominal size + reserve ... | record | colour |
//
// The record does not sit at the very end: stack i of a slab leaves (i mod 16) lines above its record.
// Without that the hot lines of all stacks would fall into the same few sets of the first- and second-level
// caches.
#pragma once

#include "weft/base/atomic.hpp"

#include <cstddef>
#include <cstdint>

namespace weft::memory {

class stack_slab;

// Bits of stack_record::flags.
enum stack_flag : std::uint8_t {
  stack_has_canary = 1, // the guard zone is readable and must stay zero; see check_canary()
};

// Ownership: whoever holds the stack. `owner` and `function` are the holder's; the rest is the memory room's.
struct alignas(64) stack_record {
  stack_record* next; // while cached
  std::byte* low;     // lowest usable byte; the guard is below
  std::size_t size;   // nominal bytes: at least so many are usable
  stack_slab* slab;   // where it lies
  union {
    void* owner;              // live: the unit on this stack, for messages; may be null
    stack_record* next_batch; // in the depot, first of a batch
  };
  union {
    const void* function;    // live: the thread's function, for messages and high-water marks; may be null
    std::size_t batch_count; // in the depot, first of a batch
  };
  // A frame above this address leaves the default size below it: a unit may run there, on its joiner's stack.
  // null: on any frame; half of the address space: on none.
  const std::byte* inline_floor;
  std::uint8_t size_class;  // 0: the default size
  std::uint8_t flags;       // stack_flag
  std::uint16_t index;      // in its slab
  std::uint32_t checker_id; // what annotate::register_stack() gave

  // 16-aligned (64 in fact); the first frame starts below. Contexts: all. Switches: never.
  void* initial_stack_pointer() noexcept { return this; }
  // Bytes from the record down to the guard: nominal size plus the reserve that inline joins may use.
  std::size_t usable() const noexcept {
    return static_cast<std::size_t>(reinterpret_cast<const std::byte*>(this) - low);
  }
};
static_assert(sizeof(stack_record) == 64);

// False if a stack without an inaccessible guard has been overrun: the words just below `low` must still be
// zero. Zero is the canary because untouched pages read as zero: checking them costs no memory. Three
// instructions where guards are inaccessible. A switch may call it on the stack it leaves; free() looks at
// the whole zone. Contexts: all, SIGNAL-SAFE. Switches: never.
[[nodiscard]] inline bool check_canary(const stack_record& stack) noexcept {
  if ((stack.flags & stack_has_canary) == 0) [[likely]] {
    return true;
  }
  const auto* zone = reinterpret_cast<const volatile std::uint64_t*>(stack.low);
  return (zone[-1] | zone[-2]) == 0;
}

} // namespace weft::memory
