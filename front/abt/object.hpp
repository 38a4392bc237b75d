// SPDX-License-Identifier: MIT
// What stands behind the handles of the C API: objects that know their kind, in memory that stays readable
// when they are gone, so that a null, wrong or freed handle is told and not followed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include "front/abt/abt.h"
#include "weft/memory/object_cache.hpp"

namespace weft::abt {

// Written first at creation, last at the end. Read through stale handles: RACY by nature, a hint that is
// right unless the memory has been taken for an object of the same kind.
enum class kind : std::uint32_t {
  gone = 0xdeadabe7,
  xstream = 0xab710001,
  xstream_barrier,
  sched,
  sched_config,
  pool,
  pool_config,
  pool_user_def,
  thread_attr,
  key,
  mutex,
  mutex_attr,
  cond,
  rwlock,
  eventual,
  future,
  barrier,
  timer,
};

// The null constants are the addresses 0 to 0x15.
inline bool is_null(const void* handle) noexcept {
  return reinterpret_cast<std::uintptr_t>(handle) <= 0x15;
}

class object {
 public:
  explicit object(kind k) noexcept : kind_(k) {}
  object(const object&) = delete;
  object& operator=(const object&) = delete;
  ~object() { kind_.store_release(kind::gone); }

  [[nodiscard]] bool is(kind k) const noexcept { return kind_.load_acquire() == k; }

 private:
  base::atomic<kind> kind_;
};

// Memory for objects of `Size` bytes. The free list's link must spare the kind, wherever it is: first in the
// objects made by make(), behind a control block in shared ones.
template <std::size_t Size>
struct alignas(64) cell {
  std::byte bytes[Size];
};

} // namespace weft::abt

template <std::size_t Size>
inline constexpr std::size_t weft::memory::object_link_offset<weft::abt::cell<Size>> = 8;

namespace weft::abt {

constexpr std::size_t cell_size(std::size_t bytes) noexcept {
  return (bytes + 63) / 64 * 64;
}

// Never destroyed: objects may be freed while statics are.
template <std::size_t Size>
memory::shared_object_cache<cell<Size>>& cells() noexcept {
  using cache = memory::shared_object_cache<cell<Size>>;
  alignas(cache) static std::byte room[sizeof(cache)];
  static auto* made = ::new (static_cast<void*>(room)) cache;
  return *made;
}

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

// Errors: std::bad_alloc; what the constructor throws.
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

// The object behind a handle, or null for null handles and for what is none of this kind.
template <class T, class Handle>
T* checked(Handle handle) noexcept {
  if (is_null(handle) || reinterpret_cast<std::uintptr_t>(handle) % alignof(void*) != 0)
    return nullptr;
  T* o = reinterpret_cast<T*>(handle);
  return o->is(T::own_kind) ? o : nullptr;
}
template <class Handle, class T>
Handle handle_of(T* object) noexcept {
  return reinterpret_cast<Handle>(object);
}

} // namespace weft::abt
