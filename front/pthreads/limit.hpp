// SPDX-License-Identifier: MIT
// The limits of timed functions, as POSIX looks at them: only where the caller would have to wait.
#pragma once

#include <cerrno>
#include <ctime>

#include "weft/door/deadline.hpp"

namespace weft::pthreads {

struct limit {
  const std::timespec* until = nullptr; // null: none
  clockid_t clock = CLOCK_REALTIME;

  /// 0, or the error: EINVAL for no moment or no clock, ETIMEDOUT for one before the beginning of time.
  [[nodiscard]] int error() const noexcept {
    if (until == nullptr)
      return 0;
    if (!is_clock() || until->tv_nsec < 0 || until->tv_nsec >= door::ns_a_second)
      return EINVAL;
    return until->tv_sec < 0 ? ETIMEDOUT : 0;
  }
  [[nodiscard]] bool is_clock() const noexcept { return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC; }
};

} // namespace weft::pthreads
