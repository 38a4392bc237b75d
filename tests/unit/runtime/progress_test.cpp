// SPDX-License-Identifier: MIT
// Who is ready, or whose time has come, gets its turn beside a thread that creates, joins and forks without
// end on the only worker. Each round makes the same few decisions: whatever their number, the visits of the
// loop must not always fall on the same one of them.
#include <gtest/gtest.h>

#include <chrono>
#include <vector>

#include "tests/unit/census_check.hpp"
#include "weft/fork_join.hpp"
#include "weft/runtime.hpp"
#include "weft/sleep.hpp"
#include "weft/thread.hpp"

namespace weft::test {
namespace {

class progress : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    ASSERT_TRUE(runtime::start({.workers = 1}));
    thread([] {}).join();
    census_.begin();
  }
  void TearDown() override {
    census_.end();
    EXPECT_TRUE(runtime::stop());
  }

  census_check census_;
};

TEST_P(progress, beside_joins_and_forks) {
  constexpr int wanted = 10;
  constexpr long most_rounds = 2'000'000; // some hundred times what it takes
  int yields = 0, sleeps = 0;
  thread yielding([&yields] {
    for (; yields < wanted; ++yields)
      this_thread::yield();
  });
  thread sleeping([&sleeps] {
    for (; sleeps < wanted; ++sleeps)
      this_thread::sleep_for(std::chrono::microseconds(50));
  });
  long rounds = 0;
  for (; rounds < most_rounds && (yields < wanted || sleeps < wanted); ++rounds) {
    std::vector<thread> children;
    for (int i = 0; i < GetParam(); ++i)
      children.emplace_back([] {});
    for (thread& c : children)
      c.join();
    auto half = fork([] { return 20; });
    EXPECT_EQ(half.join(), 20);
  }
  EXPECT_LT(rounds, most_rounds) << yields << " yields and " << sleeps << " sleeps";
  yielding.join();
  sleeping.join();
}

INSTANTIATE_TEST_SUITE_P(joins_a_round, progress, ::testing::Range(1, 13));

} // namespace
} // namespace weft::test
