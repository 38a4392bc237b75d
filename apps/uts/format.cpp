// SPDX-License-Identifier: MIT
// Numbers as people read them.

#include "apps/uts/format.hpp"

#include <cmath>
#include <cstdarg>
#include <cstdio>

namespace weft::uts {

std::string format(const char* pattern, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, pattern);
  std::vsnprintf(text, sizeof text, pattern, arguments);
  va_end(arguments);
  return text;
}

std::string with_commas(std::uint64_t n) {
  std::string text = std::to_string(n);
  for (std::size_t at = text.size(); at > 3; at -= 3) {
    text.insert(at - 3, 1, ',');
  }
  return text;
}

std::string bytes_text(double bytes) {
  const char* const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  while (std::fabs(bytes) >= 1024 && unit < 4) {
    bytes /= 1024;
    ++unit;
  }
  return format(unit == 0 || std::fabs(bytes) >= 100 ? "%.0f %s" : "%.1f %s", bytes, units[unit]);
}

std::string rate_text(double per_second) {
  if (per_second >= 1e6) {
    return format("%.2f M", per_second / 1e6);
  }
  return per_second >= 1e3 ? format("%.1f k", per_second / 1e3) : format("%.0f", per_second);
}

std::string seconds_text(double seconds) {
  if (seconds >= 120) {
    const long whole = std::lround(seconds);
    return format("%ld min %02ld s", whole / 60, whole % 60);
  }
  if (seconds >= 10) {
    return format("%.1f s", seconds);
  }
  if (seconds >= 0.5) {
    return format("%.2f s", seconds);
  }
  return seconds >= 1e-3 ? format("%.1f ms", seconds * 1e3) : format("%.0f µs", seconds * 1e6);
}

std::string workers_text(int workers) {
  return std::to_string(workers) + (workers == 1 ? " worker" : " workers");
}

} // namespace weft::uts
