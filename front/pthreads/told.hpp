// SPDX-License-Identifier: MIT
#pragma once

#include <cerrno>

namespace weft::pthreads {

/// An error's number, or 0, as functions tell it that return -1 and errno, or 0. *Contexts*: all. *Switches*:
/// never. *Errors*: none.
inline int told(int error) noexcept {
  if (error == 0)
    return 0;
  errno = error;
  return -1;
}

} // namespace weft::pthreads
