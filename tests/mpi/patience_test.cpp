// SPDX-License-Identifier: MIT
#include "front/mpi/patience.hpp"

#include <gtest/gtest.h>

using namespace weft::mpi;

namespace {

constexpr std::int64_t us = 1'000, ms = 1'000'000;

// However long a wait takes by the next look, an eighth of it at most was spent asleep.
TEST(patience, is_a_small_part_of_the_wait) {
  for (std::int64_t in_vain = 0; in_vain < 1000 * ms; in_vain += in_vain / 7 + 1) {
    EXPECT_LE(patience_after(in_vain, false), in_vain / 8) << in_vain;
    EXPECT_LE(patience_after(in_vain, false), 2 * ms);
  }
}

TEST(patience, starts_anew_and_has_an_end) {
  EXPECT_EQ(patience_after(0, false), 0);
  EXPECT_EQ(patience_after(-1, false), 0); // the clock of another CPU
  EXPECT_EQ(patience_after(400 * us - 1, false), 0);
  EXPECT_EQ(patience_after(400 * us, false), 50 * us);
  EXPECT_EQ(patience_after(16 * ms, false), 2 * ms);
  EXPECT_EQ(patience_after(3'600'000 * ms, false), 2 * ms);
}

// So many looks a second: what a rank that waits for long costs.
TEST(patience, of_a_long_wait_lets_workers_sleep) {
  int looks = 0;
  for (std::int64_t at = 1000 * ms; at < 2000 * ms; at += patience_after(at, false))
    ++looks;
  EXPECT_EQ(looks, 500);
}

// Others' gets and puts take messages that no wait here is for.
TEST(patience, is_not_there_where_there_are_windows) {
  for (std::int64_t in_vain = 0; in_vain < 1000 * ms; in_vain += in_vain / 7 + 1)
    EXPECT_EQ(patience_after(in_vain, true), 0);
}

// As in a call that takes many rounds of the engine's, none of which a look can see.
TEST(patience, grows_with_the_time_and_not_with_the_looks) {
  std::int64_t waited = 400 * us, looks = 0;
  for (; waited < 10 * ms; ++looks)
    waited += patience_after(waited, false);
  EXPECT_LE(waited, 10 * ms + 10 * ms / 8);
  EXPECT_LT(looks, 40);
}

TEST(patience, in_place_comes_first_alone_then_beside_others) {
  EXPECT_EQ(next_step_after(0), next_step::test);
  EXPECT_EQ(next_step_after(19 * us), next_step::test);
  EXPECT_EQ(next_step_after(20 * us), next_step::give_way);
  EXPECT_EQ(next_step_after(99 * us), next_step::give_way);
  EXPECT_EQ(next_step_after(100 * us), next_step::suspend);
  EXPECT_EQ(next_step_after(1000 * ms), next_step::suspend);
}

} // namespace
