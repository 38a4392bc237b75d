// SPDX-License-Identifier: MIT
// What of the past can still make a difference, in a form in which it does not tell how it came about. For
// merging: tests/model/README.md.
#pragma once

#include "tests/model/checker/seen_states.hpp"
#include "tests/model/checker/view.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace weft::model {

/// Not for use against an adversary.
inline std::uint64_t hash_of_bytes(const void* start, std::size_t bytes) noexcept {
  const auto* at = static_cast<const unsigned char*>(start);
  const auto next = [&at] {
    std::uint64_t word = 0;
    std::memcpy(&word, at, sizeof word);
    at += sizeof word;
    return word;
  };
  const auto fold = [](std::uint64_t a, std::uint64_t b) {
    const auto product = static_cast<unsigned __int128>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
  };
  std::array<std::uint64_t, 4> lanes{0x9E3779B97F4A7C15U, 0xA0761D6478BD642FU, 0xE7037ED1A0B428DBU,
                                     0x8EBC6AF09C88C6E3U};
  const std::size_t whole = bytes / 64;
  for (std::size_t i = 0; i < whole; ++i) {
    for (std::uint64_t& lane : lanes) {
      const std::uint64_t first = next();
      lane = fold(lane ^ first, next() ^ 0x589965CC75374CC3U) + 0x1D8E4E27C47D124FU;
    }
  }
  std::uint64_t sum = bytes;
  for (const std::uint64_t lane : lanes)
    sum = mix(sum, lane);
  for (std::size_t left = bytes % 64; left != 0;) {
    const std::size_t taken = std::min(left, sizeof sum);
    std::uint64_t word = 0;
    std::memcpy(&word, at, taken);
    at += taken;
    left -= taken;
    sum = mix(sum, word);
  }
  return sum;
}

/// The views of a moment, each as what it knows above what its reader knows in any case. All that is asked of
/// a clock is which accesses that may still race are before it: so it is told by how many of these are.
class views_told_apart {
 public:
  /// Begins with what every thread knows.
  void start(const view& known_to_all) noexcept {
    for (std::size_t t = 0; t < max_threads; ++t) {
      std::fill_n(rank_[t].begin(), top_[t] + 1, std::uint16_t{0});
      top_[t] = 0;
    }
    known_ = known_to_all;
  }
  const view& known_to_all() const noexcept { return known_; }

  /// To be said of each access that has been, and of the next one of each thread.
  void note(std::size_t thread, std::uint32_t clock) noexcept {
    if (clock <= known_.clock[thread])
      return;
    const std::size_t above = std::min<std::size_t>(clock - known_.clock[thread], range - 1);
    rank_[thread][above] = 1;
    top_[thread] = std::max(top_[thread], above);
  }
  /// All have been noted.
  void rank() noexcept {
    for (std::size_t t = 0; t < max_threads; ++t) {
      std::uint16_t sum = 0;
      for (std::size_t above = 1; above <= top_[t]; ++above)
        rank_[t][above] = rank_[t][above] == 0 ? sum : ++sum;
    }
  }

  std::uint64_t hash_of_clock(std::size_t thread, std::uint32_t clock) const noexcept {
    const std::uint64_t before = accesses_before(thread, clock);
    return before == 0 ? 0 : mix(thread + 1, before);
  }
  /// `known`: to whoever may join the view. What is not above that makes no difference.
  std::uint64_t hash(const view& v, const view& known, const location_names& names,
                     int locations) const noexcept {
    std::uint64_t sum = 0;
    for (std::size_t t = 0; t < max_threads; ++t) {
      if (accesses_before(t, v.clock[t]) > accesses_before(t, known.clock[t]))
        sum += hash_of_clock(t, v.clock[t]);
    }
    for (std::size_t i = 0; i < static_cast<std::size_t>(locations); ++i) {
      if (names[i] != 0 && v.seen[i] > std::max(known.seen[i], known_.seen[i]))
        sum += mix(names[i], static_cast<std::uint64_t>(v.seen[i] - known_.seen[i]));
    }
    return sum;
  }

 private:
  static constexpr std::size_t range = 4096; // more than an execution has steps

  std::uint16_t accesses_before(std::size_t thread, std::uint32_t clock) const noexcept {
    if (clock <= known_.clock[thread])
      return 0;
    return rank_[thread][std::min<std::size_t>(clock - known_.clock[thread], top_[thread])];
  }

  view known_;
  std::array<std::array<std::uint16_t, range>, max_threads> rank_{};
  std::array<std::size_t, max_threads> top_{};
};

} // namespace weft::model
