// SPDX-License-Identifier: MIT
// Exceptions end at the border of the C API, as codes.
#pragma once

#include <new>
#include <system_error>

#include "front/abt/abt.h"

namespace weft::abt {

// The code for the exception in flight; `otherwise` for what has none of its own.
int code_of_exception(int otherwise) noexcept;

// Calls `f()`, which returns a code or throws.
template <class F>
int guarded(F&& f, int otherwise = ABT_ERR_OTHER) noexcept {
  try {
    return f();
  } catch (...) {
    return code_of_exception(otherwise);
  }
}

// A code of the C API as an exception, within this front.
struct failure {
  int code;
};

} // namespace weft::abt
