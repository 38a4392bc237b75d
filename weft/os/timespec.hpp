// SPDX-License-Identifier: MIT
// Nanoseconds as the kernel takes them.
#pragma once

#include <cstdint>
#include <ctime>

namespace weft::os {

inline constexpr std::int64_t ns_a_second = 1'000'000'000, ns_a_millisecond = 1'000'000;

// What is too long for 64 bits is as long as can be. Contexts of all: all, SIGNAL-SAFE.
[[nodiscard]] inline std::int64_t ns_of(const timespec& t) noexcept {
  constexpr std::int64_t most = INT64_MAX / ns_a_second - 1;
  return t.tv_sec > most ? INT64_MAX : t.tv_sec * ns_a_second + t.tv_nsec;
}
// Of what a clock says, which is never too long.
[[nodiscard]] inline std::int64_t ns_of_reading(const timespec& t) noexcept {
  return std::int64_t{t.tv_sec} * ns_a_second + t.tv_nsec;
}
[[nodiscard]] inline timespec timespec_of(std::int64_t ns) noexcept {
  return {static_cast<time_t>(ns / ns_a_second), static_cast<long>(ns % ns_a_second)};
}

// Whether it is one that the kernel takes: of a length, or of a moment.
[[nodiscard]] inline bool is_valid(const timespec& t) noexcept {
  return t.tv_sec >= 0 && t.tv_nsec >= 0 && t.tv_nsec < ns_a_second;
}

} // namespace weft::os
