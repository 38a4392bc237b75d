// SPDX-License-Identifier: MIT
// Durations counted in buckets that grow with them: 16 to each power of two, so that a percentile is at most
// a sixteenth too large. Source: the bucket layout of HdrHistogram (Tene).
#pragma once

#include <cstdint>
#include <vector>

#include "weft/base/export.hpp"

namespace weft::trace {

/// *Contexts* of all: any but signal handlers, one at a time. *Switches*: never. *Errors*: std::bad_alloc.
class WEFT_API histogram {
 public:
  histogram();

  void add(std::uint64_t ns) noexcept;
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  [[nodiscard]] std::uint64_t largest() const noexcept { return largest_; }
  [[nodiscard]] std::uint64_t sum() const noexcept { return sum_; }
  /// The least bound that `share` (0 to 1) of the durations do not exceed, rounded up to the end of its
  /// bucket, but never beyond the largest; 0 if there are none.
  [[nodiscard]] std::uint64_t percentile(double share) const noexcept;
  /// How many lie in [2^power, 2^(power + 1)); 0 and 1 ns count for power 0. `power`: 0 to 63.
  [[nodiscard]] std::uint64_t in_octave(unsigned power) const noexcept;

 private:
  std::vector<std::uint64_t> buckets_;
  std::uint64_t count_ = 0;
  std::uint64_t sum_ = 0;
  std::uint64_t largest_ = 0;
};

} // namespace weft::trace
