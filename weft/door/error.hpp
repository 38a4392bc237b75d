// SPDX-License-Identifier: MIT
// Exceptions end at the border of an interface of C, as its codes. Which code stands for what is a table that
// the front has; the rest is the same for all of them.
//
//   constexpr door::error_row rows[] = {{std::errc::not_enough_memory, ABT_ERR_MEM}};
//   constexpr door::error_table errors{rows, ABT_ERR_OTHER};
//   return door::guarded(errors, [&] { make(); return ABT_SUCCESS; });
#pragma once

#include "weft/base/export.hpp"

#include <span>
#include <system_error>

namespace weft::door {

/// A code of the front's as an exception, within the front and between its callbacks and the door.
struct failure {
  int code;
};

struct error_row {
  std::errc why;
  int code;
};

/// What a front's codes are for what the runtime throws: std::system_error by the condition that it is,
/// std::bad_alloc as std::errc::not_enough_memory. `otherwise` is for what has no row.
struct error_table {
  std::span<const error_row> rows;
  int otherwise;

  /// `why`: std::errc or std::error_code. *Contexts*: any. *Switches*: never. *Errors*: none.
  template <class Why>
  [[nodiscard]] constexpr int code_of(const Why& why, int if_none) const noexcept {
    for (const error_row& row : rows) {
      if (why == row.why)
        return row.code;
    }
    return if_none;
  }
  /// The code for the exception in flight: that of a failure, else as the rows say. *Contexts*: in a handler
  /// (`catch`). *Switches*: never. *Errors*: none.
  [[nodiscard]] WEFT_API int code_of_exception(int if_none) const noexcept;
};

/// Calls `f()`, which returns a code or throws: a code in any case. Not for what may end the calling thread,
/// which some interfaces do by an exception of ours. *Contexts*, *Switches*: as `f`. *Errors*: none.
template <class F>
[[gnu::always_inline]] inline int guarded(const error_table& errors, F&& f, int otherwise) noexcept {
  try {
    return f();
  } catch (...) {
    return errors.code_of_exception(otherwise);
  }
}
template <class F>
[[gnu::always_inline]] inline int guarded(const error_table& errors, F&& f) noexcept {
  return guarded(errors, f, errors.otherwise);
}

} // namespace weft::door
