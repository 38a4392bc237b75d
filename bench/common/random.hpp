// SPDX-License-Identifier: MIT
// Random numbers that need no state, for data that every program makes alike, in any order.
#pragma once

#include <cstdint>

namespace weft::bench {

// The k-th number of a stream (at most 255): the finaliser of splitmix64.
inline std::uint64_t random_at(std::uint64_t stream, std::uint64_t k) {
  std::uint64_t z = (stream << 56) + (k + 1) * 0x9E3779B97F4A7C15;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

// From 0 up to, but not, 1.
inline double unit_interval(std::uint64_t number) {
  return static_cast<double>(number >> 11) * 0x1p-53;
}

} // namespace weft::bench
