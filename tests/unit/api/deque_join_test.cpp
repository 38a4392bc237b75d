// SPDX-License-Identifier: MIT
// Recursions on a work-stealing deque: the owner takes the newest unit, and the oldest seldom, since it is
// what thieves come for. See docs/design/yield-on-a-deque.md.
#include <gtest/gtest.h>

#include "tests/unit/census_check.hpp"
#include "weft/semaphore.hpp"
#include "weft/thread.hpp"
#include "weft/trace.hpp"

namespace weft::test {
namespace {

class deque_joins : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(runtime::start(
        {.workers = 1, .pools = arrangement::stealing, .bind = false, .make_scheduler = nullptr}));
    leaks_.begin();
  }
  void TearDown() override {
    leaks_.end();
    EXPECT_TRUE(runtime::stop());
  }

 private:
  census_check leaks_;
};

// Joins of so many threads.
int tree(int n) {
  if (n < 2)
    return 0;
  int below = 0;
  thread child([&below, n] { below = tree(n - 1); });
  const int mine = tree(n - 2);
  child.join();
  return below + mine + 1;
}

TEST_F(deque_joins, leave_the_largest_part_for_thieves) {
  const auto before = trace::total();
  int joins = 0;
  thread root([&joins] { joins = tree(24); });
  root.join();
  EXPECT_EQ(joins, 75024);
  // The root, and where the oldest had its turn: it and who waited for another one.
  EXPECT_LE(trace::total().started - before.started, 20U);
}

TEST_F(deque_joins, give_the_oldest_its_turn_all_the_same) {
  bool had_its_turn = false;
  thread oldest([&had_its_turn] { had_its_turn = true; });
  int joins = 0;
  for (; !had_its_turn && joins < 1'000'000; ++joins) {
    thread t([] {});
    t.join();
  }
  EXPECT_TRUE(had_its_turn);
  EXPECT_LE(joins, 64 * 252);
  oldest.join();
}

// Who is buried under threads that wake each other waits for no more than some hundreds of their decisions.
TEST_F(deque_joins, do_not_make_the_oldest_wait_for_those_who_block) {
  bool had_its_turn = false;
  thread oldest([&had_its_turn] { had_its_turn = true; });
  counting_semaphore<> ping(0), pong(0);
  int rounds = 0;
  constexpr int most = 100'000;
  thread answers([&] {
    do {
      ping.acquire();
      pong.release();
    } while (!had_its_turn && rounds < most);
  });
  thread asks([&] {
    for (; !had_its_turn && rounds < most; ++rounds) {
      ping.release();
      pong.acquire();
    }
    ping.release();
  });
  asks.join();
  answers.join();
  EXPECT_TRUE(had_its_turn);
  EXPECT_LE(rounds, 2 * 252);
  oldest.join();
}

} // namespace
} // namespace weft::test
