// SPDX-License-Identifier: MIT
#include "front/abt/context.hpp"

#include "weft/os/clock.hpp"

namespace weft::abt {
namespace {

constexpr double longest = 9e9; // seconds: below the range of a deadline

} // namespace

sched::deadline deadline_of(const std::timespec& realtime) noexcept {
  std::timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  // As doubles first: nothing that a timespec can hold, nanoseconds out of range included, may overflow.
  const double left = (static_cast<double>(realtime.tv_sec) - static_cast<double>(now.tv_sec)) +
                      (static_cast<double>(realtime.tv_nsec) - static_cast<double>(now.tv_nsec)) * 1e-9;
  if (left > longest)
    return deadline_in(longest);
  if (left <= -1)
    return 0;
  // unsigned: wraps to the right difference, which is in range
  const auto ns = static_cast<std::int64_t>(
      (static_cast<std::uint64_t>(realtime.tv_sec) - static_cast<std::uint64_t>(now.tv_sec)) * 1'000'000'000 +
      (static_cast<std::uint64_t>(realtime.tv_nsec) - static_cast<std::uint64_t>(now.tv_nsec)));
  return ns <= 0 ? 0 : os::now_ns() + ns;
}

sched::deadline deadline_in(double seconds) noexcept {
  if (!(seconds > 0))
    return 0;
  return os::now_ns() + static_cast<std::int64_t>((seconds < longest ? seconds : longest) * 1e9);
}

} // namespace weft::abt
