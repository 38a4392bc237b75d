// SPDX-License-Identifier: MIT
// What stands behind handles of C: objects that know their kind, in memory that stays readable when they are
// gone, so that a wrong or freed handle is told and not followed. The kinds are the front's: an enumeration
// of std::uint32_t with an enumerator `gone`. Their numbers should be like nothing else that a handle may
// point to.
#pragma once

#include "weft/base/atomic.hpp"
#include "weft/base/immortal.hpp"
#include "weft/memory/object_cache.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>

namespace weft::door {

/// First base of what has a handle. The kind is written first at creation, last at the end, and read through
/// stale handles: RACY by nature, a hint that is right unless the memory has been taken for an object of the
/// same kind.
template <class Kind>
class object {
  static_assert(sizeof(Kind) == sizeof(std::uint32_t));

 public:
  explicit object(Kind k) noexcept : kind_(k) {}
  object(const object&) = delete;
  object& operator=(const object&) = delete;
  ~object() { kind_.store_release(Kind::gone); }

  /// *Contexts*: any. *Switches*: never. *Errors*: none.
  [[nodiscard]] bool is(Kind k) const noexcept { return kind_.load_acquire() == k; }

 private:
  base::atomic<Kind> kind_;
};

/// Memory for objects of `Size` bytes. The free list's link must spare the kind, wherever it is: first in the
/// objects made by make(), behind a control block in shared ones.
template <std::size_t Size>
struct alignas(64) cell {
  std::byte bytes[Size];
};

} // namespace weft::door

template <std::size_t Size>
inline constexpr std::size_t weft::memory::object_link_offset<weft::door::cell<Size>> = 8;

namespace weft::door {

constexpr std::size_t cell_size(std::size_t bytes) noexcept {
  return (bytes + 63) / 64 * 64;
}

/// Never destroyed: objects may be freed while statics are.
template <std::size_t Size>
memory::shared_object_cache<cell<Size>>& cells() noexcept {
  return base::immortal<memory::shared_object_cache<cell<Size>>>();
}

/// For objects that a standard pointer shares. *Contexts*: in the runtime; all but signal handlers.
/// *Switches*: never. *Errors*: std::bad_alloc.
template <class T>
struct cell_allocator {
  using value_type = T;
  cell_allocator() = default;
  template <class U>
  explicit(false) cell_allocator(const cell_allocator<U>&) noexcept {}

  T* allocate(std::size_t) {
    static_assert(alignof(T) <= 64);
    void* memory = cells<cell_size(sizeof(T))>().allocate();
    if (memory == nullptr)
      throw std::bad_alloc();
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t) noexcept {
    cells<cell_size(sizeof(T))>().free(reinterpret_cast<cell<cell_size(sizeof(T))>*>(memory));
  }
  template <class U>
  bool operator==(const cell_allocator<U>&) const noexcept {
    return true;
  }
};

/// A T whose memory stays readable, as a T or something as large, after destroy(). *Contexts*: in the
/// runtime; all but signal handlers. *Switches*: never, unless T's own do. *Errors*: std::bad_alloc; what the
/// constructor throws.
template <class T, class... Arguments>
T* make(Arguments&&... arguments) {
  cell_allocator<T> memory;
  T* place = memory.allocate(1);
  try {
    return ::new (static_cast<void*>(place)) T(std::forward<Arguments>(arguments)...);
  } catch (...) {
    memory.deallocate(place, 1);
    throw;
  }
}
template <class T>
void destroy(T* object) noexcept {
  object->~T();
  cell_allocator<T>().deallocate(object, 1);
}
template <class T>
struct destroyer {
  void operator()(T* object) const noexcept { destroy(object); }
};
template <class T>
using owner = std::unique_ptr<T, destroyer<T>>;
template <class T, class... Arguments>
owner<T> make_owned(Arguments&&... arguments) {
  return owner<T>(make<T>(std::forward<Arguments>(arguments)...));
}

} // namespace weft::door
