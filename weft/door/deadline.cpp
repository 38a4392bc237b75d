// SPDX-License-Identifier: MIT
#include "weft/door/deadline.hpp"

#include "weft/sync/sleep.hpp"

namespace weft::door {
namespace {

constexpr double longest = 9e9; // seconds, some 285 years: below the range of a deadline

std::timespec read(clockid_t clock) noexcept {
  std::timespec now{};
  ::clock_gettime(clock, &now);
  return now;
}

} // namespace

deadline deadline_of(const std::timespec& moment, clockid_t clock) noexcept {
  const std::timespec then = read(clock);
  // As doubles first: nothing that a timespec can hold, nanoseconds out of range included, may overflow.
  const double left = (static_cast<double>(moment.tv_sec) - static_cast<double>(then.tv_sec)) +
                      (static_cast<double>(moment.tv_nsec) - static_cast<double>(then.tv_nsec)) * 1e-9;
  if (left > longest)
    return deadline_in(longest);
  if (left <= -1)
    return 0;
  // unsigned: wraps to the right difference, which is in range
  const auto ns = static_cast<std::int64_t>(
      (static_cast<std::uint64_t>(moment.tv_sec) - static_cast<std::uint64_t>(then.tv_sec)) * 1'000'000'000 +
      (static_cast<std::uint64_t>(moment.tv_nsec) - static_cast<std::uint64_t>(then.tv_nsec)));
  return ns <= 0 ? 0 : now() + ns;
}

deadline deadline_in(double seconds) noexcept {
  if (!(seconds > 0))
    return 0;
  return now() + static_cast<std::int64_t>((seconds < longest ? seconds : longest) * 1e9);
}

void sleep_until(deadline until) {
  sync::sleep_until_deadline(until, {});
}

} // namespace weft::door
