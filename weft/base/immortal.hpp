// SPDX-License-Identifier: MIT
// An object of the process that is made at its first use and never destroyed: destructors of statics and
// kernel threads that are still there at exit may use it.
#pragma once

#include "weft/base/once.hpp"

#include <cstddef>
#include <new>

namespace weft::base {

// The one T of the process, so T is a type of the caller's own; default-constructed by the first call.
// Contexts: all but signal handlers; handlers once it is made. Switches: never. Errors: none of its own.
template <class T>
T& immortal() noexcept(noexcept(T())) {
  alignas(T) static std::byte room[sizeof(T)];
  static constinit once first;
  first([] { ::new (static_cast<void*>(room)) T; });
  return *std::launder(reinterpret_cast<T*>(room));
}

} // namespace weft::base
