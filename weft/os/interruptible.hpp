// SPDX-License-Identifier: MIT
// Calls of the system that a signal can end with EINTR, be it one whose handler was set up without
// SA_RESTART. Tests have them end so without a signal (fault_site::interrupted).
#pragma once

#include "weft/os/fault.hpp"

#include <cerrno>
#include <unistd.h>

namespace weft::os {

// Makes the call; or it fails with what was injected before it was made. For callers that look again at
// what they wait for, whatever ended the wait. Contexts and switches: as the call.
template <class Call>
auto interruptible(Call call) noexcept -> decltype(call()) {
  if (const int injected = fault(fault_site::interrupted)) [[unlikely]] {
    errno = injected;
    return -1;
  }
  return call();
}

// Makes the call again for as long as signals end it.
template <class Call>
auto uninterrupted(Call call) noexcept -> decltype(call()) {
  for (;;) {
    const auto result = interruptible(call);
    if (result >= 0 || errno != EINTR)
      return result;
  }
}

// 0 or an errno. Never again after EINTR, which is no error: Linux has closed the descriptor by then, and
// its number may be somebody else's.
inline int close_descriptor(int descriptor) noexcept {
  const int error = ::close(descriptor) == 0 ? fault(fault_site::interrupted) : errno;
  return error == EINTR ? 0 : error;
}

} // namespace weft::os
