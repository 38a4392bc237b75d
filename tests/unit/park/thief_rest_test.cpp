// SPDX-License-Identifier: MIT
// When a thief rests: see thief_rest.hpp. Times in ns.
#include "weft/park/thief_rest.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace weft::park {
namespace {

constexpr std::int64_t longest = 200'000;

class thief {
 public:
  // Searches so long, steals so many units and runs them for so long; the rest before the next search.
  std::int64_t lives(std::int64_t searches, std::uint64_t steals, std::int64_t runs,
                     std::int64_t most = longest) {
    rest_.found(now_ += searches);
    return rest_.begin_search(now_ += runs, thefts_ += steals, most);
  }
  std::int64_t lives_often(int times, std::int64_t searches, std::uint64_t steals, std::int64_t runs) {
    std::int64_t all = 0;
    for (int i = 0; i < times; ++i)
      all += lives(searches, steals, runs);
    return all;
  }
  thief_rest& rest() { return rest_; }

 private:
  thief_rest rest_;
  std::int64_t now_ = 1'000;
  std::uint64_t thefts_ = 0;
};

TEST(thief_rest, is_none_for_who_finds_nothing_or_units_of_its_own) {
  thief t;
  EXPECT_EQ(t.rest().begin_search(1'000, 0, longest), 0);
  EXPECT_EQ(t.rest().begin_search(2'000, 0, longest), 0);
  EXPECT_EQ(t.lives_often(100, 500, 0, 100), 0);
  EXPECT_FALSE(t.rest().is_due());
}

TEST(thief_rest, is_none_where_thefts_bring_work) {
  thief t;
  EXPECT_EQ(t.lives_often(100, 50'000, 1, 10'000), 0); // searches most of the time, for long units
  EXPECT_EQ(t.lives_often(100, 1'000, 1, 3'000), 0);   // short ones, and runs most of the time
  EXPECT_EQ(t.lives_often(100, 100, 10, 30'000), 0);   // many of them from one search
}

TEST(thief_rest, grows_while_thefts_bring_little) {
  thief t;
  std::vector<std::int64_t> rests;
  for (int i = 0; i < 32; ++i) {
    if (const std::int64_t r = t.lives(300, 1, 1'000); r != 0)
      rests.push_back(r);
  }
  EXPECT_EQ(rests, (std::vector<std::int64_t>{25'000, 50'000, 100'000, 200'000, 200'000, 200'000, 200'000}));
  EXPECT_TRUE(t.rest().is_due());
}

TEST(thief_rest, comes_where_two_take_turns) {
  thief t;
  EXPECT_NE(t.lives_often(32, 4'000, 1, 4'000), 0);
}

TEST(thief_rest, begins_anew_after_a_theft_that_was_worth_it) {
  thief t;
  EXPECT_NE(t.lives_often(32, 300, 1, 1'000), 0);
  EXPECT_EQ(t.lives(300, 1, 100'000), 0);
  EXPECT_EQ(t.lives_often(6, 300, 1, 1'000), 0);
  EXPECT_FALSE(t.rest().is_due());
}

TEST(thief_rest, comes_of_calls_in_vain) {
  thief t;
  EXPECT_EQ(t.rest().called_in_vain(longest), 0);
  EXPECT_EQ(t.rest().called_in_vain(longest), 25'000);
  EXPECT_EQ(t.rest().called_in_vain(longest), 50'000);
}

TEST(thief_rest, is_none_where_it_is_switched_off) {
  thief t;
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(t.lives(300, 1, 1'000, 0), 0);
  EXPECT_EQ(t.rest().called_in_vain(0), 0);
  EXPECT_FALSE(t.rest().is_due());
}

} // namespace
} // namespace weft::park
