// SPDX-License-Identifier: MIT
#include "weft/queue/priority_buckets.hpp"

#include "tests/unit/queue/crowd.hpp"

#include <array>

namespace weft::queue {
namespace {

template <class Buckets>
class buckets : public testing::Test {};
using both = testing::Types<private_priority_buckets, locked_priority_buckets>;
TYPED_TEST_SUITE(buckets, both);

TYPED_TEST(buckets, most_urgent_first_then_oldest) {
  TypeParam queue;
  std::array<link, 5> items;
  EXPECT_EQ(queue.pop_front(), nullptr);
  EXPECT_EQ(queue.most_urgent(), TypeParam::level_count);
  queue.push_back(&items[4], 63);
  queue.push_back(&items[2], 7);
  queue.push_back(&items[3], 7);
  queue.push_front(&items[1], 7);
  queue.push_back(&items[0], 0);
  EXPECT_EQ(queue.size(), 5U);
  EXPECT_EQ(queue.most_urgent(), 0U);
  EXPECT_TRUE(queue.valid());
  for (link& each : items) {
    EXPECT_EQ(queue.pop_front(), &each);
  }
  EXPECT_TRUE(queue.empty());
  EXPECT_TRUE(queue.valid());
}

TYPED_TEST(buckets, remove_clears_the_level) {
  TypeParam queue;
  std::array<link, 2> items;
  queue.push_back(&items[0], 5);
  queue.push_back(&items[1], 9);
  queue.remove(&items[0], 5);
  EXPECT_TRUE(queue.valid());
  EXPECT_EQ(queue.most_urgent(), 9U);
  EXPECT_EQ(queue.pop_front(), &items[1]);
}

TEST(locked_priority_buckets, stress_takes_each_item_once) {
  const unsigned seed = test::seed();
  SCOPED_TRACE(testing::Message() << "WEFT_TEST_SEED=" << seed);
  constexpr unsigned threads = 3;
  constexpr unsigned each = 40'000;
  locked_priority_buckets queue;
  std::vector<test::item> items(threads * each);
  test::crowd(threads, [&](unsigned who) {
    std::mt19937 random(seed + who);
    for (unsigned pushed = 0; pushed < each;) {
      if (random() % 2 == 0) {
        queue.push_back(&items[who * each + pushed++], static_cast<unsigned>(random() % 64));
      } else if (link* const got = queue.pop_front()) {
        ++test::as_item(got)->taken;
      }
    }
  });
  EXPECT_TRUE(queue.valid());
  while (link* const got = queue.pop_front()) {
    ++test::as_item(got)->taken;
  }
  EXPECT_EQ(test::wrong(items), 0U);
}

} // namespace
} // namespace weft::queue
