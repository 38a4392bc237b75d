// SPDX-License-Identifier: MIT
// Exceptions end at the border of the C API, as codes.
#pragma once

#include "front/abt/abt.h"
#include "weft/door/error.hpp"

namespace weft::abt {

extern const door::error_table errors;

using door::failure; // of which the code is one of the C API's

// Calls `f()`, which returns a code or throws.
template <class F>
[[gnu::always_inline]] inline int guarded(F&& f, int otherwise = ABT_ERR_OTHER) noexcept {
  return door::guarded(errors, f, otherwise);
}

} // namespace weft::abt
