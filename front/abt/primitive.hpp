// SPDX-License-Identifier: MIT
// What the synchronisation objects share: times, making and freeing.
#pragma once

#include <ctime>
#include <utility>

#include "front/abt/context.hpp"
#include "front/abt/error.hpp"
#include "front/abt/object.hpp"
#include "weft/door/deadline.hpp"

namespace weft::abt {

// A timed form of `wait(until)`, which returns a code.
template <class Wait>
int timed(const std::timespec* abstime, Wait wait) noexcept {
  if (abstime == nullptr)
    return ABT_ERR_INV_ARG;
  return guarded([&] { return wait(door::deadline_of(*abstime)); });
}

// Makes a T for a handle that is null if that fails.
template <class T, class Handle, class... Arguments>
int create(Handle* handle, Handle null, Arguments&&... arguments) noexcept {
  *handle = null;
  return guarded([&] {
    *handle = handle_of<Handle>(make<T>(std::forward<Arguments>(arguments)...));
    return ABT_SUCCESS;
  });
}
// The same for handles that are left untouched then.
template <class T, class Handle, class... Arguments>
int create_or_leave(Handle* handle, Arguments&&... arguments) noexcept {
  return guarded([&] {
    *handle = handle_of<Handle>(make<T>(std::forward<Arguments>(arguments)...));
    return ABT_SUCCESS;
  });
}
template <class T, class Handle>
int free_object(Handle* handle, Handle null, int invalid) noexcept {
  T* o = checked<T>(*handle);
  if (o == nullptr)
    return invalid;
  destroy(o);
  *handle = null;
  return ABT_SUCCESS;
}

} // namespace weft::abt
