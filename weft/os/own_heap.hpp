// SPDX-License-Identifier: MIT
// Memory for what the runtime keeps while threads may be preempted. A thread that is preempted inside malloc
// holds the lock of an arena; were the runtime to wait for that lock on the worker on which the thread waits
// to go on, neither would ever. So what preemptible threads make the runtime allocate comes from here: blocks
// of powers of two, from the kernel, under a lock that is held in the runtime alone.
// docs/design/preemption.md
#pragma once

#include <cstddef>
#include <limits>
#include <new>

#include "weft/base/export.hpp"

namespace weft::os {

// A block of at least `bytes`, aligned for what is as large, at most to a page. Null: out of memory.
// Contexts: in the runtime, or where no thread is preempted; not signal handlers. Switches: never.
[[nodiscard]] WEFT_API void* own_allocate(std::size_t bytes) noexcept;
// `bytes` as it was allocated. Contexts: as own_allocate().
WEFT_API void own_free(void* block, std::size_t bytes) noexcept;

// In the child of fork(): the free blocks, whose lists somebody may have been changing, are left behind;
// blocks that are out stay. Nobody holds the lock across a fork: those who wait for it spin, and their worker
// would keep a thread from going on that the fork waits for.
void forget_own_heap_after_fork() noexcept;

// A base for classes whose objects `new` takes from here.
struct on_own_heap {
  static void* operator new(std::size_t bytes) {
    void* block = own_allocate(bytes);
    if (block == nullptr)
      throw std::bad_alloc();
    return block;
  }
  static void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return own_allocate(bytes); }
  static void* operator new(std::size_t bytes, std::align_val_t) { return operator new(bytes); }
  static void* operator new(std::size_t bytes, std::align_val_t, const std::nothrow_t&) noexcept {
    return own_allocate(bytes);
  }
  static void* operator new(std::size_t, void* place) noexcept { return place; }
  static void operator delete(void* block, std::size_t bytes) noexcept { own_free(block, bytes); }
  static void operator delete(void* block, std::size_t bytes, std::align_val_t) noexcept {
    own_free(block, bytes);
  }
};

// For the standard's containers.
template <class T>
struct own_allocator {
  using value_type = T;
  own_allocator() = default;
  template <class U>
  explicit(false) own_allocator(const own_allocator<U>&) noexcept {}
  T* allocate(std::size_t count) {
    if (count > std::numeric_limits<std::size_t>::max() / sizeof(T))
      throw std::bad_array_new_length();
    void* block = own_allocate(count * sizeof(T));
    if (block == nullptr)
      throw std::bad_alloc();
    return static_cast<T*>(block);
  }
  void deallocate(T* block, std::size_t count) noexcept { own_free(block, count * sizeof(T)); }
  bool operator==(const own_allocator&) const noexcept { return true; }
};

} // namespace weft::os
