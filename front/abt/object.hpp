// SPDX-License-Identifier: MIT
// What stands behind the handles of the C API: the door's objects, with Argobots' kinds, and handles that are
// null.
#pragma once

#include <cstdint>

#include "front/abt/abt.h"
#include "weft/door/object.hpp"

namespace weft::abt {

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

using object = door::object<kind>;
using door::cell_allocator;
using door::destroy;
using door::make;
using door::make_owned;
using door::owner;

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
