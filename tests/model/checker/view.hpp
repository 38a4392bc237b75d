// SPDX-License-Identifier: MIT
// What a model thread is known to have seen: per location the oldest store it may still read, and per thread
// how much of that thread's past happens before now.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace weft::model {

inline constexpr std::size_t max_threads = 10;
/// Atomic locations that one execution may touch.
inline constexpr std::size_t max_locations = 128;

/// A point in two partial orders. Joining two views is taking the maximum of each element.
struct view {
  /// Index of a store in the location's modification order. Signed 16 bits: their maximum is one SSE2
  /// instruction.
  std::array<std::int16_t, max_locations> seen{};
  /// A vector clock, for data races on plain locations.
  std::array<std::uint32_t, max_threads> clock{};

  void join_seen(const view& other) noexcept {
    for (std::size_t i = 0; i < max_locations; ++i) {
      seen[i] = std::max(seen[i], other.seen[i]);
    }
  }

  /// A store takes place `index` of a location: those from there on have moved.
  void make_room(std::size_t location, int index) noexcept {
    seen[location] += seen[location] >= index ? 1 : 0;
  }

  /// Above all others, and what a view has in common with another.
  static view top() noexcept {
    view all;
    all.seen.fill(std::numeric_limits<std::int16_t>::max());
    all.clock.fill(std::numeric_limits<std::uint32_t>::max());
    return all;
  }
  void meet(const view& other) noexcept {
    for (std::size_t i = 0; i < max_locations; ++i)
      seen[i] = std::min(seen[i], other.seen[i]);
    for (std::size_t i = 0; i < max_threads; ++i)
      clock[i] = std::min(clock[i], other.clock[i]);
  }

  void join(const view& other) noexcept {
    join_seen(other);
    for (std::size_t i = 0; i < max_threads; ++i) {
      clock[i] = std::max(clock[i], other.clock[i]);
    }
  }
};

} // namespace weft::model
