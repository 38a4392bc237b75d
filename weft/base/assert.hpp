// SPDX-License-Identifier: MIT
// Assertions and the last word of a process. WEFT_ASSERT states an invariant of Weft's own: on in debug and
// CI builds, no code at all in release. panic() is for what cannot be continued whatever the build.
#pragma once

#include "weft/base/export.hpp"

#ifndef WEFT_ASSERT_LEVEL
#define WEFT_ASSERT_LEVEL 0
#endif

namespace weft::base {

// 0: off. 1: on. The build sets it for the library and, through the installed package, for its consumers,
// because inline code of both must agree.
inline constexpr int assert_level = WEFT_ASSERT_LEVEL;

// Writes "weft: <message>" and a newline to stderr with one write(2), then aborts. printf formats; the
// message is cut at 1000 bytes. Contexts: all; SIGNAL-SAFE with formats made of %s %c %d %u %x %p and their
// l, z forms (it formats into a buffer on the stack, needs about 3 KiB of it, allocates nothing). Switches:
// never.
[[noreturn]] WEFT_API void panic(const char* format, ...) noexcept
    __attribute__((format(printf, 1, 2), cold));

// As panic(), but returns: for one-line warnings. Contexts, limits: as panic(). errno is preserved.
WEFT_API void warn(const char* format, ...) noexcept __attribute__((format(printf, 1, 2), cold));

// What a failed WEFT_ASSERT calls: "weft: <file>:<line>: <text> (<condition>)", then abort. SIGNAL-SAFE.
[[noreturn]] WEFT_API void assert_failed(const char* file, int line, const char* condition,
                                         const char* text) noexcept __attribute__((cold));

} // namespace weft::base

// The condition is compiled in every build, evaluated only at assert_level > 0; it must have no side effect.
#define WEFT_ASSERT(condition, text)                                                                         \
  do {                                                                                                       \
    if constexpr (::weft::base::assert_level > 0) {                                                          \
      if (!(condition)) [[unlikely]] {                                                                       \
        ::weft::base::assert_failed(__FILE__, __LINE__, #condition, text);                                   \
      }                                                                                                      \
    }                                                                                                        \
  } while (false)
