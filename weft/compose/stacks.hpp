// SPDX-License-Identifier: MIT
// Stack sources: where a thread's stack comes from. One object a worker.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

#include "weft/memory/annotate.hpp"
#include "weft/memory/stack_cache.hpp"

namespace weft::compose {

// libweft's stacks: cached by worker, guarded; sizes by the knobs WEFT_STACK_SIZE and so on.
class cached_stacks {
 public:
  using stack = memory::stack_record;
  // Whether a thread may give back the stack that it still runs on, since nobody gets it before it has left.
  static constexpr bool may_free_running = true;

  // At least `bytes`, 0: the default size. Null: no memory. Contexts: the worker. Switches: never.
  [[gnu::always_inline]] stack* allocate(std::size_t bytes) noexcept {
    return bytes == 0 ? cache_.allocate() : cache_.allocate(bytes);
  }
  [[gnu::always_inline]] void free(stack& s) noexcept { cache_.free(&s); }
  // A frame above it has room below it for another thread: see inline_join.
  [[gnu::always_inline]] static const std::byte* floor(const stack& s) noexcept { return s.inline_floor; }

 private:
  memory::stack_cache cache_;
};

// Each stack is an allocation of its own, given back when its thread ends: slower, without a guard, but
// AddressSanitizer and memcheck see a use of a stack after its thread's end.
template <std::size_t Bytes = 128 << 10>
class heap_stacks {
 public:
  struct stack {
    std::size_t size;         // bytes above this record; the initial stack pointer is their end
    std::uint32_t checker_id; // what annotate::register_stack() gave
    [[nodiscard]] std::size_t usable() const noexcept { return size; }
    void* initial_stack_pointer() noexcept { return reinterpret_cast<std::byte*>(this + 1) + size; }
  };
  static constexpr bool may_free_running = false;

  stack* allocate(std::size_t bytes) noexcept {
    const std::size_t size = ((bytes == 0 ? Bytes : bytes) + alignment - 1) / alignment * alignment;
    void* room = ::operator new(sizeof(padded) + size, std::align_val_t{alignment}, std::nothrow);
    if (room == nullptr)
      return nullptr;
    auto* s = ::new (room) padded{{size + sizeof(padded) - sizeof(stack), 0}};
    // Else memcheck takes a switch between two stacks that lie close together for a frame that comes or goes.
    s->checker_id = memory::annotate::register_stack(s + 1, s->initial_stack_pointer());
    return s;
  }
  void free(stack& s) noexcept {
    memory::annotate::forget_stack(s.checker_id);
    ::operator delete(&s, std::align_val_t{alignment});
  }
  static const std::byte* floor(const stack& s) noexcept {
    return reinterpret_cast<const std::byte*>(&s + 1) + s.size / 2;
  }

 private:
  static constexpr std::size_t alignment = 64;
  struct alignas(alignment) padded : stack {};
};

} // namespace weft::compose
