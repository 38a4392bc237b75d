// SPDX-License-Identifier: MIT
#include "weft/park/parking.hpp"

#include <gtest/gtest.h>

#include <array>
#include <poll.h>
#include <vector>

namespace weft::park {
namespace {

void bring(parking_spot& spot, idle_state s, os::doorbell& bell) {
  switch (s) {
  case idle_state::active:
    static_cast<void>(spot.found_work());
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
  case idle_state::watching:
    spot.announce_park();
    ASSERT_TRUE(spot.start_watching(bell));
    break;
  case idle_state::visiting:
    spot.announce_park();
    ASSERT_TRUE(spot.start_visiting(bell));
    break;
  }
  ASSERT_EQ(spot.load(), s);
}

// Every combination of three workers: nobody is chosen while one searches or was woken; else the first that
// is parked, else the first that watches, else the first that visits.
TEST(parking, choose_sleeper_table) {
  constexpr int states = 6;
  const os::doorbell::lease bell = os::doorbell::take();
  for (int combination = 0; combination < states * states * states; ++combination) {
    std::array<parking_spot, 3> spots;
    std::vector<parking_spot*> pointers;
    parking_spot* parked = nullptr;
    parking_spot* watching = nullptr;
    parking_spot* visiting = nullptr;
    bool one_looks = false;
    for (int i = 0, left = combination; i < 3; ++i, left /= states) {
      const auto s = static_cast<idle_state>(left % states);
      pointers.push_back(&spots[static_cast<std::size_t>(i)]);
      bring(*pointers.back(), s, *bell);
      one_looks = one_looks || s == idle_state::searching || s == idle_state::notified;
      if (parked == nullptr && s == idle_state::parked)
        parked = pointers.back();
      if (watching == nullptr && s == idle_state::watching)
        watching = pointers.back();
      if (visiting == nullptr && s == idle_state::visiting)
        visiting = pointers.back();
    }
    parking_spot* const asleep = parked != nullptr ? parked : watching != nullptr ? watching : visiting;
    parking_spot* const expected = one_looks ? nullptr : asleep;
    const waking won = choose_sleeper(pointers);
    EXPECT_EQ(static_cast<bool>(won), expected != nullptr) << "combination " << combination;
    if (expected == nullptr)
      continue;
    EXPECT_TRUE(expected->is_notified());
    EXPECT_FALSE(choose_sleeper(pointers)) << "one wake is under way";
  }
}

// Who sleeps in the event source is called through its bell.
TEST(parking, a_watching_worker_is_rung_for) {
  const os::doorbell::lease bell = os::doorbell::take();
  parking_spot spot;
  spot.announce_park();
  ASSERT_TRUE(spot.start_watching(*bell));
  EXPECT_FALSE(spot.cancel_park());
  spot.try_notify().finish();
  pollfd rung{bell->descriptor(), POLLIN, 0};
  EXPECT_EQ(::poll(&rung, 1, 0), 1);
  spot.announce_park();
  ASSERT_TRUE(spot.try_notify());
  EXPECT_FALSE(spot.start_watching(*bell)) << "it was notified";
}

TEST(parking, the_watch_has_one_holder) {
  watch post;
  EXPECT_FALSE(post.is_kept());
  EXPECT_TRUE(post.try_take());
  EXPECT_FALSE(post.try_take());
  EXPECT_TRUE(post.is_taken());
  EXPECT_TRUE(post.try_stand_by());
  EXPECT_FALSE(post.try_stand_by());
  const std::uint32_t before = post.changes();
  post.give_up();
  EXPECT_NE(post.changes(), before);
  EXPECT_TRUE(post.is_kept()) << "the deputy will look";
  post.stand_down();
  EXPECT_FALSE(post.is_kept());
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

// Whoever is awake is told that a push counts on it, and says so when it leaves its search, once.
TEST(parking, a_search_that_was_counted_on_owes_a_look) {
  parking_spot spot;
  EXPECT_FALSE(spot.try_count_on()) << "it runs units";
  spot.start_searching();
  EXPECT_FALSE(spot.found_work());

  spot.start_searching();
  EXPECT_TRUE(spot.try_count_on());
  EXPECT_TRUE(spot.try_count_on());
  EXPECT_EQ(spot.load(), idle_state::searching);
  EXPECT_TRUE(spot.found_work());
  EXPECT_EQ(spot.load(), idle_state::active);
  spot.start_searching();
  EXPECT_FALSE(spot.found_work()) << "it has looked";
}

TEST(parking, a_sleep_that_a_push_has_ended_owes_a_look) {
  parking_spot spot;
  spot.announce_park();
  EXPECT_FALSE(spot.try_count_on()) << "it sleeps";
  spot.search_again();
  EXPECT_FALSE(spot.found_work()) << "it woke by itself";

  spot.announce_park();
  ASSERT_TRUE(spot.try_notify());
  EXPECT_TRUE(spot.try_count_on());
  EXPECT_TRUE(spot.is_notified());
  spot.search_again();
  spot.announce_park(); // it has found nothing yet
  EXPECT_EQ(spot.word().load_relaxed(), static_cast<std::uint32_t>(idle_state::parked)) << "it can sleep";
  spot.search_again();
  EXPECT_TRUE(spot.found_work());
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

// A searcher whose CPU somebody took each time it was offered sleeps; one refusal begins the count anew.
TEST(search_time, is_in_the_way_of_who_takes_each_offer) {
  constexpr std::int64_t taken = 5'000, refused = 300;
  search_time search;
  const auto offers_until_sleep = [&search] {
    int offers = 1;
    while (!search.is_in_the_way(taken))
      ++offers;
    return offers;
  };
  const int all = offers_until_sleep();
  EXPECT_GT(all, 1);
  EXPECT_EQ(offers_until_sleep(), all); // counted anew
  for (int i = 1; i < all; ++i)
    EXPECT_FALSE(search.is_in_the_way(taken));
  EXPECT_FALSE(search.is_in_the_way(refused));
  EXPECT_EQ(offers_until_sleep(), all);
}

} // namespace
} // namespace weft::park
