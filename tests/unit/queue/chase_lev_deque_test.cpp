// SPDX-License-Identifier: MIT
#include "weft/queue/chase_lev_deque.hpp"

#include "tests/unit/queue/crowd.hpp"

#include <array>

namespace weft::queue {
namespace {

using deque = chase_lev_deque<test::item>;

TEST(chase_lev_deque, owner_takes_the_youngest_thief_the_oldest) {
  deque queue;
  std::array<test::item, 4> items;
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.pop_bottom(), nullptr);
  EXPECT_EQ(queue.steal().status, steal_status::empty);
  EXPECT_EQ(queue.steal_top_by_owner(), nullptr);
  for (test::item& each : items) {
    queue.push_bottom(&each);
  }
  EXPECT_EQ(queue.size(), 4U);
  EXPECT_EQ(queue.pop_bottom(), &items[3]);
  const auto stolen = queue.steal();
  EXPECT_EQ(stolen.status, steal_status::taken);
  EXPECT_EQ(stolen.item, &items[0]);
  EXPECT_EQ(queue.steal_top_by_owner(), &items[1]);
  EXPECT_EQ(queue.pop_bottom(), &items[2]);
  EXPECT_EQ(queue.pop_bottom(), nullptr);
  EXPECT_TRUE(queue.empty() && queue.valid());
}

TEST(chase_lev_deque, pop_bottom_if_takes_only_what_is_expected) {
  deque queue;
  std::array<test::item, 2> items;
  EXPECT_FALSE(queue.pop_bottom_if(&items[0]));
  queue.push_bottom(&items[0]);
  queue.push_bottom(&items[1]);
  EXPECT_FALSE(queue.pop_bottom_if(&items[0]));
  EXPECT_TRUE(queue.pop_bottom_if(&items[1]));
  EXPECT_FALSE(queue.pop_bottom_if(&items[1])); // its slot still holds it
  EXPECT_EQ(queue.steal().item, &items[0]);
  EXPECT_FALSE(queue.pop_bottom_if(&items[0])) << "stolen, but still in its slot";
  EXPECT_TRUE(queue.empty() && queue.valid());
}

TEST(chase_lev_deque, grows_and_keeps_the_order) {
  chase_lev_deque<test::item> queue(2);
  std::vector<test::item> items(1000);
  for (test::item& each : items) {
    queue.push_bottom(&each);
    ASSERT_TRUE(queue.valid());
  }
  EXPECT_GE(queue.capacity(), 1000U);
  for (std::size_t i = 0; i < 500; ++i) {
    ASSERT_EQ(queue.steal().item, &items[i]);
    ASSERT_EQ(queue.pop_bottom(), &items[999 - i]);
  }
  EXPECT_TRUE(queue.empty());
}

TEST(chase_lev_deque, wraps_without_growing) {
  chase_lev_deque<test::item> queue(4);
  test::item one;
  for (int i = 0; i < 100; ++i) {
    queue.push_bottom(&one);
    ASSERT_EQ(queue.steal_top_by_owner(), &one);
    ASSERT_TRUE(queue.valid());
  }
  EXPECT_EQ(queue.capacity(), 4U);
}

/// Fences as shipped, but thieves may pay whether membarrier is there or not: for the tests of the choice,
/// which run on one kernel thread.
struct always_asymmetric : deque_fences {
  static bool asymmetric() noexcept { return true; }
};

TEST(chase_lev_deque, the_steal_rate_chooses_who_pays) {
  chase_lev_deque<test::item, always_asymmetric> queue;
  test::item one;
  const auto round = [&](bool stolen) {
    queue.push_bottom(&one);
    stolen ? void(queue.steal()) : void(queue.pop_bottom());
  };
  EXPECT_EQ(queue.payer(), fence_payer::thief);
  for (unsigned i = 0; i < 4 * deque_tuning::thief_pays_window; ++i) {
    round(i % 16 == 0);
  }
  EXPECT_EQ(queue.payer(), fence_payer::owner) << "one steal in 16 pops: the owner has to pay";
  for (unsigned i = 0; i < 4 * deque_tuning::owner_pays_window; ++i) {
    round(i % 128 == 0);
  }
  EXPECT_EQ(queue.payer(), fence_payer::owner) << "one steal in 128 pops: neither rare nor frequent";
  for (unsigned i = 0; i < 4 * deque_tuning::owner_pays_window; ++i) {
    round(false);
  }
  EXPECT_EQ(queue.payer(), fence_payer::thief) << "no steal at all: thieves have to pay";
  EXPECT_TRUE(queue.valid());
}

TEST(chase_lev_deque, an_owner_that_only_pushes_notices_thieves) {
  chase_lev_deque<test::item, always_asymmetric> queue;
  test::item one;
  for (std::int64_t i = 0; i < 4 * deque_tuning::pushes_per_look; ++i) {
    queue.push_bottom(&one);
    queue.steal();
  }
  EXPECT_EQ(queue.payer(), fence_payer::owner);
}

TEST(chase_lev_deque, what_the_owner_takes_at_the_top_is_no_theft) {
  chase_lev_deque<test::item, always_asymmetric> queue;
  test::item one;
  for (unsigned i = 0; i < 8 * deque_tuning::thief_pays_window; ++i) {
    queue.push_bottom(&one);
    i % 2 == 0 ? queue.steal_top_by_owner() : queue.pop_bottom();
  }
  EXPECT_EQ(queue.payer(), fence_payer::thief);
}

/// One owner with random pushes, pops of all kinds and changes of payer; thieves; every item once.
void stress(unsigned seed, unsigned thieves, std::size_t count, bool switching) {
  deque queue(2);
  std::vector<test::item> items(count);
  std::atomic<bool> done = false;
  test::crowd(thieves + 1, [&](unsigned who) {
    if (who != 0) {
      while (!done.load()) {
        const auto got = queue.steal();
        got.status == steal_status::taken ? void(++got.item->taken) : std::this_thread::yield();
      }
      return;
    }
    std::mt19937 random(seed);
    std::size_t pushed = 0;
    while (pushed < count) {
      const unsigned what = random() % 16;
      test::item* got = nullptr;
      if (what < 8) {
        queue.push_bottom(&items[pushed++]);
      } else if (what < 12) {
        got = queue.pop_bottom();
      } else if (what < 14 && pushed > 0) {
        got = queue.pop_bottom_if(&items[pushed - 1]) ? &items[pushed - 1] : nullptr;
      } else if (what == 14) {
        got = queue.steal_top_by_owner();
      } else if (switching && random() % 8 == 0) {
        queue.set_payer(random() % 2 == 0 ? fence_payer::owner : fence_payer::thief);
      }
      got != nullptr ? void(++got->taken) : void();
      ASSERT_TRUE(pushed % 512 != 0 || queue.valid());
    }
    while (test::item* const got = queue.pop_bottom()) {
      ++got->taken;
    }
    done = true;
  });
  EXPECT_TRUE(queue.empty() && queue.valid());
  EXPECT_EQ(test::wrong(items), 0U);
}

TEST(chase_lev_deque, stress_with_one_thief) {
  const unsigned seed = test::seed();
  SCOPED_TRACE(testing::Message() << "WEFT_TEST_SEED=" << seed);
  stress(seed, 1, 300'000, false);
}

TEST(chase_lev_deque, stress_with_three_thieves_and_changing_payer) {
  const unsigned seed = test::seed();
  SCOPED_TRACE(testing::Message() << "WEFT_TEST_SEED=" << seed);
  stress(seed, 3, 300'000, true);
}

} // namespace
} // namespace weft::queue
