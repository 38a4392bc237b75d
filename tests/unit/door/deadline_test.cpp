// SPDX-License-Identifier: MIT
#include "weft/door/deadline.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <ctime>
#include <limits>

namespace {

using weft::door::deadline;
using weft::door::deadline_in;
using weft::door::deadline_of;

constexpr deadline second = 1'000'000'000;

std::timespec in_seconds(clockid_t clock, long seconds) {
  std::timespec at{};
  ::clock_gettime(clock, &at);
  at.tv_sec += seconds;
  return at;
}

TEST(door_deadline, a_moment_of_either_clock_is_as_far_away_as_on_that_clock) {
  for (const clockid_t clock : {CLOCK_REALTIME, CLOCK_MONOTONIC}) {
    const deadline before = weft::door::now();
    const deadline at = deadline_of(in_seconds(clock, 1000), clock);
    const deadline after = weft::door::now();
    EXPECT_GE(at, before + 999 * second);
    EXPECT_LE(at, after + 1001 * second);
  }
}

TEST(door_deadline, what_is_past_has_passed) {
  EXPECT_TRUE(weft::door::passed(deadline_of({})));
  EXPECT_TRUE(weft::door::passed(deadline_of(in_seconds(CLOCK_REALTIME, -1))));
  EXPECT_TRUE(weft::door::passed(deadline_of({std::numeric_limits<std::time_t>::min(), 0})));
  EXPECT_TRUE(weft::door::passed(deadline_in(0)));
  EXPECT_TRUE(weft::door::passed(deadline_in(-1e300)));
  EXPECT_TRUE(weft::door::passed(deadline_in(std::nan(""))));
}

TEST(door_deadline, what_is_too_far_away_is_ahead) {
  EXPECT_GT(deadline_of({std::numeric_limits<std::time_t>::max(), std::numeric_limits<long>::max()}), second);
  EXPECT_FALSE(weft::door::passed(deadline_of({std::numeric_limits<std::time_t>::max(), 0})));
  EXPECT_FALSE(weft::door::passed(deadline_in(std::numeric_limits<double>::infinity())));
  EXPECT_FALSE(weft::door::passed(weft::door::no_deadline));
  EXPECT_LT(deadline_in(1e300), weft::door::no_deadline);
}

TEST(door_deadline, nanoseconds_out_of_range_count) {
  const std::timespec now = in_seconds(CLOCK_REALTIME, 0);
  const deadline at = deadline_of({now.tv_sec, 5000 * second});
  EXPECT_GT(at, weft::door::now() + 4000 * second);
}

} // namespace
