// SPDX-License-Identifier: MIT
#include "weft/queue/locked_fifo.hpp"

#include "tests/unit/queue/crowd.hpp"

#include <array>

namespace weft::queue {
namespace {

TEST(locked_fifo, both_ends_and_the_middle) {
  locked_fifo fifo;
  std::array<link, 4> items;
  EXPECT_TRUE(fifo.empty());
  EXPECT_EQ(fifo.pop_front(), nullptr);
  EXPECT_EQ(fifo.pop_back(), nullptr);
  fifo.push_back(&items[1]);
  fifo.push_back(&items[2]);
  fifo.push_back(&items[3]);
  fifo.push_front(&items[0]);
  EXPECT_EQ(fifo.size(), 4U);
  fifo.remove(&items[1]);
  EXPECT_FALSE(fifo.remove_if(&items[2], [] { return false; }));
  EXPECT_TRUE(fifo.valid());
  EXPECT_EQ(fifo.pop_front(), &items[0]);
  EXPECT_EQ(fifo.pop_back(), &items[3]);
  EXPECT_TRUE(fifo.remove_if(&items[2], [] { return true; }));
  EXPECT_TRUE(fifo.empty());
}

TEST(locked_fifo, pop_front_into_moves_the_oldest) {
  locked_fifo fifo;
  intrusive_fifo target;
  std::array<link, 3> items;
  EXPECT_EQ(fifo.pop_front_into(target, 2), 0U);
  for (link& each : items) {
    fifo.push_back(&each);
  }
  EXPECT_EQ(fifo.pop_front_into(target, 2), 2U);
  EXPECT_EQ(fifo.size(), 1U);
  EXPECT_EQ(target.pop_front(), &items[0]);
  EXPECT_EQ(fifo.pop_front_into(target, 2), 1U);
  EXPECT_TRUE(fifo.empty() && fifo.valid());
}

TEST(locked_fifo, stress_takes_each_item_once) {
  const unsigned seed = test::seed();
  SCOPED_TRACE(testing::Message() << "WEFT_TEST_SEED=" << seed);
  constexpr unsigned threads = 4;
  constexpr unsigned each = 40'000;
  locked_fifo fifo;
  std::vector<test::item> items(threads * each);
  test::crowd(threads, [&](unsigned who) {
    std::mt19937 random(seed + who);
    unsigned pushed = 0;
    while (pushed < each) {
      const unsigned what = random() % 4;
      if (what < 2) {
        test::item& made = items[who * each + pushed++];
        what == 0 ? fifo.push_back(&made) : fifo.push_front(&made);
      } else if (link* const got = what == 2 ? fifo.pop_front() : fifo.pop_back()) {
        ++test::as_item(got)->taken;
      }
      if (pushed % 1024 == 0) {
        ASSERT_TRUE(fifo.valid());
      }
    }
  });
  while (link* const got = fifo.pop_front()) {
    ++test::as_item(got)->taken;
  }
  EXPECT_EQ(test::wrong(items), 0U);
  EXPECT_TRUE(fifo.valid());
}

} // namespace
} // namespace weft::queue
