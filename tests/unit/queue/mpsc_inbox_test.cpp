// SPDX-License-Identifier: MIT
#include "weft/queue/mpsc_inbox.hpp"

#include "tests/unit/queue/crowd.hpp"

#include <array>

namespace weft::queue {
namespace {

TEST(mpsc_inbox, takes_in_order_of_arrival_and_says_when_it_was_empty) {
  mpsc_inbox inbox;
  counted_fifo list;
  std::array<link, 3> items;
  EXPECT_FALSE(inbox.take_into(list));
  EXPECT_TRUE(inbox.push(&items[0]));
  EXPECT_FALSE(inbox.push(&items[1]));
  EXPECT_FALSE(inbox.empty());
  EXPECT_TRUE(inbox.take_into(list));
  EXPECT_TRUE(inbox.empty());
  EXPECT_TRUE(inbox.push(&items[2]));
  EXPECT_TRUE(inbox.take_into(list));
  EXPECT_TRUE(list.valid());
  for (link& each : items) {
    EXPECT_EQ(list.pop_front(), &each);
  }
}

TEST(mpsc_inbox, stress_keeps_each_producers_order) {
  constexpr unsigned producers = 3;
  constexpr unsigned each = 100'000;
  mpsc_inbox inbox;
  std::vector<test::item> items(producers * each);
  std::vector<unsigned> next(producers, 0);
  std::size_t count = 0;
  test::crowd(producers + 1, [&](unsigned who) {
    if (who < producers) {
      for (unsigned i = 0; i < each; ++i) {
        test::item& made = items[who * each + i];
        made.producer = who;
        made.number = i;
        inbox.push(&made);
      }
      return;
    }
    intrusive_fifo list;
    while (count < items.size()) {
      inbox.take_into(list) ? void() : std::this_thread::yield();
      while (link* const got = list.pop_front()) {
        test::item* const taken = test::as_item(got);
        ++taken->taken;
        ++count;
        ASSERT_EQ(taken->number, next[taken->producer]++);
      }
    }
  });
  EXPECT_EQ(test::wrong(items), 0U);
  EXPECT_TRUE(inbox.empty());
}

} // namespace
} // namespace weft::queue
