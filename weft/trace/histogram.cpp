// SPDX-License-Identifier: MIT
#include "weft/trace/histogram.hpp"

#include <algorithm>
#include <bit>

namespace weft::trace {
namespace {

constexpr unsigned in_each = 16;
constexpr unsigned in_each_bits = 4;

// Below 16 each value has a bucket; then 16 buckets share each power of two.
constexpr unsigned bucket_of(std::uint64_t ns) noexcept {
  if (ns < in_each) {
    return static_cast<unsigned>(ns);
  }
  const auto shift = static_cast<unsigned>(std::bit_width(ns)) - in_each_bits - 1;
  return shift * in_each + static_cast<unsigned>(ns >> shift);
}

// The largest value in a bucket.
constexpr std::uint64_t end_of(unsigned bucket) noexcept {
  if (bucket < 2 * in_each) {
    return bucket;
  }
  const unsigned shift = bucket / in_each - 1;
  const std::uint64_t first = std::uint64_t{bucket % in_each + in_each} << shift;
  return first + ((std::uint64_t{1} << shift) - 1);
}

constexpr unsigned bucket_count = bucket_of(~std::uint64_t{0}) + 1;
static_assert(bucket_of(15) == 15 && bucket_of(16) == 16 && bucket_of(31) == 31 && bucket_of(32) == 32);
static_assert(bucket_of(33) == 32 && bucket_of(34) == 33 && end_of(32) == 33 && end_of(15) == 15);
static_assert(end_of(bucket_count - 1) == ~std::uint64_t{0});

} // namespace

histogram::histogram() : buckets_(bucket_count) {}

void histogram::add(std::uint64_t ns) noexcept {
  ++buckets_[bucket_of(ns)];
  ++count_;
  sum_ += ns;
  largest_ = std::max(largest_, ns);
}

std::uint64_t histogram::percentile(double share) const noexcept {
  const double wanted = std::clamp(share, 0.0, 1.0) * static_cast<double>(count_);
  std::uint64_t passed = 0;
  for (unsigned i = 0; i < bucket_count; ++i) {
    passed += buckets_[i];
    if (buckets_[i] != 0 && static_cast<double>(passed) >= wanted) {
      return std::min(end_of(i), largest_);
    }
  }
  return largest_;
}

std::uint64_t histogram::in_octave(unsigned power) const noexcept {
  const std::uint64_t low = power == 0 ? 0 : std::uint64_t{1} << power;
  const std::uint64_t last = power >= 63 ? ~std::uint64_t{0} : (std::uint64_t{2} << power) - 1;
  std::uint64_t sum = 0;
  for (unsigned i = bucket_of(low); i <= bucket_of(last); ++i) {
    sum += buckets_[i];
  }
  return sum;
}

} // namespace weft::trace
