// SPDX-License-Identifier: MIT
// The C++ run time's functions that the compiler calls around the initialiser of a static variable, for the
// whole process. Not in sanitized builds, whose tools have their own.
#include <cxxabi.h>

#include "weft/sync/static_guard.hpp"

extern "C" WEFT_API int __cxa_guard_acquire(__cxxabiv1::__guard* guard) {
  return weft::sync::acquire_guard(guard) ? 1 : 0;
}

extern "C" WEFT_API void __cxa_guard_release(__cxxabiv1::__guard* guard) noexcept {
  weft::sync::release_guard(guard);
}

extern "C" WEFT_API void __cxa_guard_abort(__cxxabiv1::__guard* guard) noexcept {
  weft::sync::abort_guard(guard);
}
