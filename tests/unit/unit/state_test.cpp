// SPDX-License-Identifier: MIT
#include "weft/unit/state.hpp"

#include <gtest/gtest.h>

namespace weft::unit {
namespace {

TEST(state, the_life_of_a_thread) {
  state_word s;
  EXPECT_EQ(s.load(), state::fresh);
  s.post();
  EXPECT_EQ(s.load(), state::posted);
  s.reset();
  EXPECT_EQ(s.load(), state::fresh);
  s.start_running();
  EXPECT_EQ(s.load(), state::running);
  s.make_ready();
  EXPECT_EQ(s.load(), state::ready);
  s.start_running();
  s.block();
  EXPECT_EQ(s.load(), state::blocked);
  s.start_running();
  s.finish();
  EXPECT_EQ(s.load(), state::finished);
  s.reset();
  EXPECT_EQ(s.load(), state::fresh);
}

TEST(state, names) {
  EXPECT_STREQ(to_string(state::fresh), "fresh");
  EXPECT_STREQ(to_string(state::posted), "posted");
  EXPECT_STREQ(to_string(state::ready), "ready");
  EXPECT_STREQ(to_string(state::running), "running");
  EXPECT_STREQ(to_string(state::blocked), "blocked");
  EXPECT_STREQ(to_string(state::finished), "finished");
}

TEST(state_death, transitions_that_do_not_exist) {
  if (base::assert_level == 0)
    GTEST_SKIP() << "assertions are off";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  state_word fresh;
  state_word blocked;
  blocked.start_running();
  blocked.block();
  EXPECT_DEATH(blocked.block(), "only a running unit can block");
  EXPECT_DEATH(fresh.finish(), "only a running unit can finish");
  state_word running;
  running.start_running();
  EXPECT_DEATH(running.start_running(), "only a waiting unit can run");
  running.finish();
  EXPECT_DEATH(running.make_ready(), "a finished unit was made ready");
  EXPECT_DEATH(running.start_running(), "only a waiting unit can run");
}

} // namespace
} // namespace weft::unit
