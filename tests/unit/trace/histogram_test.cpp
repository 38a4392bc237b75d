// SPDX-License-Identifier: MIT
#include "weft/trace/histogram.hpp"

#include <algorithm>
#include <cstdint>
#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace {

using weft::trace::histogram;

constexpr std::uint64_t greatest = ~std::uint64_t{0};

TEST(histogram, an_empty_one_has_no_durations) {
  const histogram h;
  EXPECT_EQ(h.count(), 0u);
  EXPECT_EQ(h.largest(), 0u);
  EXPECT_EQ(h.percentile(0.5), 0u);
  EXPECT_EQ(h.in_octave(10), 0u);
}

TEST(histogram, small_and_extreme_values_keep_their_place) {
  histogram h;
  for (const std::uint64_t value : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{31}, greatest}) {
    h.add(value);
  }
  EXPECT_EQ(h.count(), 4u);
  EXPECT_EQ(h.largest(), greatest);
  EXPECT_EQ(h.percentile(0), 0u);
  EXPECT_EQ(h.percentile(0.5), 1u);
  EXPECT_EQ(h.percentile(0.75), 31u);
  EXPECT_EQ(h.percentile(1), greatest);
  EXPECT_EQ(h.in_octave(0), 2u);
  EXPECT_EQ(h.in_octave(4), 1u);
  EXPECT_EQ(h.in_octave(63), 1u);
}

TEST(histogram, every_duration_is_in_the_octave_of_its_highest_bit) {
  for (unsigned power = 1; power < 64; ++power) {
    histogram h;
    const std::uint64_t low = std::uint64_t{1} << power;
    h.add(low);
    h.add(low + (low - 1));
    h.add(low - 1);
    EXPECT_EQ(h.in_octave(power), 2u) << power;
    EXPECT_EQ(h.in_octave(power - 1), 1u) << power;
  }
}

// Against the durations themselves, sorted.
TEST(histogram, a_percentile_is_at_most_a_sixteenth_too_large) {
  std::mt19937_64 random(7);
  std::vector<std::uint64_t> all;
  histogram h;
  std::uint64_t sum = 0;
  for (int i = 0; i < 10'000; ++i) {
    all.push_back(random() >> (24 + random() % 40)); // of all magnitudes; their sum fits
    sum += all.back();
    h.add(all.back());
  }
  std::sort(all.begin(), all.end());
  EXPECT_EQ(h.sum(), sum);
  for (const double share : {0.01, 0.1, 0.5, 0.9, 0.99, 0.9999, 1.0}) {
    const auto exact = all[static_cast<std::size_t>(std::max(0.0, share * 10'000 - 1))];
    const auto told = h.percentile(share);
    EXPECT_GE(told, exact) << share;
    EXPECT_LE(static_cast<double>(told), static_cast<double>(exact) * 17 / 16 + 1) << share;
  }
}

} // namespace
