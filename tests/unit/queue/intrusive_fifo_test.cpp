// SPDX-License-Identifier: MIT
#include "weft/queue/intrusive_fifo.hpp"

#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <random>

namespace weft::queue {
namespace {

template <class Fifo>
class fifo : public testing::Test {};
using both = testing::Types<intrusive_fifo, counted_fifo>;
TYPED_TEST_SUITE(fifo, both);

TYPED_TEST(fifo, empty) {
  TypeParam list;
  EXPECT_TRUE(list.empty());
  EXPECT_EQ(list.front(), nullptr);
  EXPECT_EQ(list.back(), nullptr);
  EXPECT_EQ(list.pop_front(), nullptr);
  EXPECT_EQ(list.pop_back(), nullptr);
  EXPECT_EQ(list.size(), 0U);
  EXPECT_TRUE(list.valid());
}

TYPED_TEST(fifo, keeps_order_at_both_ends) {
  TypeParam list;
  std::array<link, 4> items;
  list.push_back(&items[1]);
  list.push_back(&items[2]);
  list.push_front(&items[0]);
  list.push_back(&items[3]);
  EXPECT_EQ(list.front(), &items[0]);
  EXPECT_EQ(list.back(), &items[3]);
  EXPECT_EQ(list.pop_back(), &items[3]);
  EXPECT_EQ(list.pop_front(), &items[0]);
  EXPECT_EQ(list.pop_front(), &items[1]);
  EXPECT_EQ(list.pop_front(), &items[2]);
  EXPECT_TRUE(list.empty());
}

TYPED_TEST(fifo, append_reversed_restores_the_order_of_arrival) {
  TypeParam list;
  std::array<link, 4> items;
  list.push_back(&items[0]);
  items[3].next = &items[2];
  items[2].next = &items[1];
  items[1].next = nullptr;
  list.append_reversed(&items[3]);
  list.append_reversed(nullptr);
  EXPECT_TRUE(list.valid());
  EXPECT_EQ(list.size(), 4U);
  for (link& each : items) {
    EXPECT_EQ(list.pop_front(), &each);
  }
}

TYPED_TEST(fifo, splice_back_empties_the_other) {
  TypeParam list;
  TypeParam other;
  std::array<link, 3> items;
  list.splice_back(other);
  EXPECT_TRUE(list.empty());
  list.push_back(&items[0]);
  other.push_back(&items[1]);
  other.push_back(&items[2]);
  list.splice_back(other);
  EXPECT_TRUE(other.empty());
  EXPECT_TRUE(list.valid() && other.valid());
  EXPECT_EQ(list.size(), 3U);
  EXPECT_EQ(list.back(), &items[2]);
}

TYPED_TEST(fifo, valid_sees_a_broken_link) {
  TypeParam list;
  std::array<link, 2> items;
  list.push_back(&items[0]);
  list.push_back(&items[1]);
  items[1].prev = &items[1];
  EXPECT_FALSE(list.valid());
  items[1].prev = &items[0];
  EXPECT_TRUE(list.valid());
}

TYPED_TEST(fifo, random_operations_against_std_deque) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  TypeParam list;
  std::deque<link*> model;
  std::array<link, 64> items;
  std::deque<link*> spare;
  for (link& each : items) {
    spare.push_back(&each);
  }
  const auto recycle = [&](link* got, link* expected) {
    ASSERT_EQ(got, expected);
    spare.push_back(got);
  };
  for (int round = 0; round < 20'000; ++round) {
    const unsigned what = random() % 5;
    if (what < 2 && !spare.empty()) {
      link* const item = spare.front();
      spare.pop_front();
      what == 0 ? list.push_back(item) : list.push_front(item);
      what == 0 ? model.push_back(item) : model.push_front(item);
    } else if (what == 2 && !model.empty()) {
      recycle(list.pop_front(), model.front());
      model.pop_front();
    } else if (what == 3 && !model.empty()) {
      recycle(list.pop_back(), model.back());
      model.pop_back();
    } else if (!model.empty()) {
      const auto at = model.begin() + static_cast<std::ptrdiff_t>(random() % model.size());
      list.remove(*at);
      spare.push_back(*at);
      model.erase(at);
    }
    if (round % 64 == 0) {
      ASSERT_TRUE(list.valid());
      ASSERT_EQ(list.size(), model.size());
    }
  }
}

} // namespace
} // namespace weft::queue
