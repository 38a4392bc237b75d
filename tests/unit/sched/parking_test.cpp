// SPDX-License-Identifier: MIT
#include "weft/sched/parking.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace weft::sched {
namespace {

void bring(parking_spot& spot, idle_state s) {
  switch (s) {
  case idle_state::active:
    spot.found_work();
    break;
  case idle_state::searching:
    spot.start_searching();
    break;
  case idle_state::parked:
    spot.announce_park();
    break;
  case idle_state::notified:
    spot.announce_park();
    ASSERT_TRUE(spot.try_notify());
    break;
  }
  ASSERT_EQ(spot.load(), s);
}

// Every combination of three workers: nobody is chosen while one searches or was woken; else the first that
// is parked.
TEST(parking, choose_sleeper_table) {
  for (int combination = 0; combination < 64; ++combination) {
    std::array<parking_spot, 3> spots;
    std::vector<parking_spot*> pointers;
    parking_spot* expected = nullptr;
    bool one_looks = false;
    for (int i = 0; i < 3; ++i) {
      const auto s = static_cast<idle_state>((combination >> (2 * i)) & 3);
      bring(spots[static_cast<std::size_t>(i)], s);
      pointers.push_back(&spots[static_cast<std::size_t>(i)]);
      one_looks = one_looks || s == idle_state::searching || s == idle_state::notified;
      if (expected == nullptr && s == idle_state::parked)
        expected = pointers.back();
    }
    if (one_looks)
      expected = nullptr;
    EXPECT_EQ(choose_sleeper(pointers), expected) << "combination " << combination;
    if (expected == nullptr)
      continue;
    EXPECT_TRUE(expected->is_notified());
    EXPECT_EQ(choose_sleeper(pointers), nullptr) << "one wake is under way";
  }
}

TEST(parking, one_wake_wins) {
  parking_spot spot;
  EXPECT_FALSE(spot.try_notify()) << "it is awake";
  spot.announce_park();
  EXPECT_TRUE(spot.try_notify());
  EXPECT_FALSE(spot.try_notify());
  EXPECT_FALSE(spot.cancel_park()) << "it was notified";
  spot.announce_park();
  EXPECT_TRUE(spot.cancel_park());
  EXPECT_EQ(spot.load(), idle_state::searching);
}

TEST(parking, sleepers_are_counted) {
  sleepers s;
  EXPECT_FALSE(s.any());
  s.add();
  s.add();
  s.remove();
  EXPECT_TRUE(s.any());
  s.remove();
  EXPECT_FALSE(s.any());
}

} // namespace
} // namespace weft::sched
