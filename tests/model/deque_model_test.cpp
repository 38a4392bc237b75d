// SPDX-License-Identifier: MIT
// The shipped chase_lev_deque under the checker: every item is taken exactly once whoever pays for the fence,
// while the payer changes and while the array grows; and each fence, taken away, is missed. Labels:
// weft/queue/README.md.
#include "tests/model/checker/model.hpp"
#include "tests/model/expect.hpp"
#include "tests/model/mutations.hpp"
#include "weft/queue/chase_lev_deque.hpp"

#include <gtest/gtest.h>

#include <array>

namespace weft {
namespace {

using model::check;
using model::expect_fails;
using model::expect_passes;
using queue::fence_payer;
using queue::steal_status;

/// What is queued. Written before the push, read after the take: the hand-over must order the two.
struct item {
  model::var<int> payload;
  int taken = 0;
};

/// Items, and who took them. A second take of the same item fails the execution.
class ledger {
 public:
  item* make(int index) {
    item& made = items_[static_cast<std::size_t>(index)];
    made.payload = index + 100;
    return &made;
  }

  void take(item* got) {
    if (got != nullptr) {
      const auto index = static_cast<std::size_t>(got - items_.data());
      check(got->payload == static_cast<int>(index) + 100, "payload not handed over");
      check(++got->taken == 1, "taken twice");
    }
  }

  void expect_all_taken(int count) const {
    for (int i = 0; i < count; ++i) {
      check(items_[static_cast<std::size_t>(i)].taken == 1, "lost");
    }
  }

 private:
  std::array<item, 8> items_;
};

template <class Fences>
struct fixture {
  using deque = queue::chase_lev_deque<item, Fences>;

  explicit fixture(fence_payer payer) { queue.set_payer(payer); }

  void push(int index) { queue.push_bottom(book.make(index)); }
  void pop() { book.take(queue.pop_bottom()); }

  void steal(int times) {
    for (int i = 0; i < times; ++i) {
      book.take(queue.steal().item);
    }
  }

  void finish(int count) {
    check(queue.valid(), "deque is not valid");
    while (item* const rest = queue.pop_bottom()) {
      book.take(rest);
    }
    check(queue.empty() && queue.size() == 0, "not empty");
    check(queue.valid(), "deque is not valid");
    book.expect_all_taken(count);
  }

  ledger book;
  deque queue;
};

/// The owner pops what thieves take: the last items are fought for.
template <class Fences = queue::deque_fences>
void pops_against_thieves(fence_payer payer, int items, int pops, int thieves, int steals) {
  fixture<Fences> f(payer);
  for (int i = 0; i < items; ++i) {
    f.push(i);
  }
  {
    model::thread thief([&] { f.steal(steals); });
    if (thieves == 2) {
      model::thread other([&] { f.steal(steals); });
      for (int i = 0; i < pops; ++i) {
        f.pop();
      }
    } else {
      for (int i = 0; i < pops; ++i) {
        f.pop();
      }
    }
  }
  f.finish(items);
}

class deque_model : public testing::TestWithParam<fence_payer> {};
INSTANTIATE_TEST_SUITE_P(payers, deque_model, testing::Values(fence_payer::owner, fence_payer::thief),
                         [](const auto& info) {
                           return info.param == fence_payer::owner ? "owner_pays" : "thief_pays";
                         });

TEST_P(deque_model, one_item_one_thief) {
  expect_passes(model::exhaustively(), [payer = GetParam()] { pops_against_thieves(payer, 1, 1, 1, 1); });
}

TEST_P(deque_model, two_items_one_thief) {
  expect_passes(model::exhaustively(), [payer = GetParam()] { pops_against_thieves(payer, 2, 2, 1, 2); });
}

TEST_P(deque_model, three_items_one_thief) {
  expect_passes(model::exhaustively(), [payer = GetParam()] { pops_against_thieves(payer, 3, 2, 1, 2); });
}

TEST_P(deque_model, two_items_two_thieves) {
  expect_passes(model::exhaustively(), [payer = GetParam()] { pops_against_thieves(payer, 2, 2, 2, 1); });
}

/// Three threads, two operations each.
TEST_P(deque_model, three_items_two_thieves_twice) {
  expect_passes(model::exhaustively(), [payer = GetParam()] { pops_against_thieves(payer, 3, 2, 2, 2); });
}

void push_is_published(fence_payer payer) {
  fixture<queue::deque_fences> f(payer);
  {
    model::thread thief([&] { f.steal(2); });
    f.push(0);
    f.push(1);
    f.pop();
  }
  f.finish(2);
}

TEST_P(deque_model, push_is_published) {
  expect_passes(model::exhaustively(), [payer = GetParam()] { push_is_published(payer); });
}

TEST_P(deque_model, a_popped_and_pushed_slot_is_not_stolen_stale) {
  expect_passes(model::exhaustively(), [payer = GetParam()] {
    fixture<queue::deque_fences> f(payer);
    f.push(0);
    {
      model::thread thief([&] { f.steal(1); });
      f.pop();
      f.push(1);
      f.pop();
    }
    f.finish(2);
  });
}

void growth_against_a_thief(fence_payer payer) {
  fixture<queue::deque_fences> f(payer);
  f.push(0);
  f.push(1); // the array is full: capacity is 2 under the checker
  check(f.queue.capacity() == 2, "the seam does not shrink capacities");
  {
    model::thread thief([&] { f.steal(2); });
    f.push(2);
    f.pop();
  }
  f.finish(3);
}

TEST_P(deque_model, growth_against_a_thief) {
  expect_passes(model::exhaustively(), [payer = GetParam()] { growth_against_a_thief(payer); });
}

void wrap_around(fence_payer payer) {
  fixture<queue::deque_fences> f(payer);
  f.push(0);
  f.push(1);
  {
    model::thread thief([&] { f.steal(2); });
    f.push(2); // reuses slot 0 if that has been stolen, grows if not
    f.push(3);
  }
  f.finish(4);
}

TEST_P(deque_model, wrap_around_reuses_a_slot_only_after_its_thief) {
  expect_passes(model::exhaustively(), [payer = GetParam()] { wrap_around(payer); });
}

TEST_P(deque_model, pop_bottom_if_against_a_thief) {
  expect_passes(model::exhaustively(), [payer = GetParam()] {
    fixture<queue::deque_fences> f(payer);
    item* const first = f.book.make(0);
    item* const second = f.book.make(1);
    f.queue.push_bottom(first);
    f.queue.push_bottom(second);
    {
      model::thread thief([&] { f.steal(2); });
      check(!f.queue.pop_bottom_if(first) || f.queue.empty(), "popped what was not at the bottom");
      if (f.queue.pop_bottom_if(second)) {
        f.book.take(second);
      }
      if (f.queue.pop_bottom_if(first)) {
        f.book.take(first);
      }
    }
    f.finish(2);
  });
}

TEST_P(deque_model, owner_takes_the_oldest_against_a_thief) {
  expect_passes(model::exhaustively(), [payer = GetParam()] {
    fixture<queue::deque_fences> f(payer);
    f.push(0);
    f.push(1);
    {
      model::thread thief([&] { f.steal(1); });
      f.book.take(f.queue.steal_top_by_owner());
      f.pop();
    }
    f.finish(2);
  });
}

TEST_P(deque_model, payer_changes_in_flight) {
  expect_passes(model::exhaustively(), [payer = GetParam()] {
    fixture<queue::deque_fences> f(payer);
    const fence_payer other = payer == fence_payer::owner ? fence_payer::thief : fence_payer::owner;
    f.push(0);
    f.push(1);
    {
      model::thread thief([&] { f.steal(2); });
      f.queue.set_payer(other);
      f.pop();
      f.pop();
    }
    f.finish(2);
  });
}

TEST_P(deque_model, payer_changes_there_and_back) {
  expect_passes(model::exhaustively(), [payer = GetParam()] {
    fixture<queue::deque_fences> f(payer);
    const fence_payer other = payer == fence_payer::owner ? fence_payer::thief : fence_payer::owner;
    f.push(0);
    f.push(1);
    {
      model::thread thief([&] { f.steal(2); });
      f.pop();
      f.queue.set_payer(other);
      f.pop();
      f.queue.set_payer(payer);
      f.push(2);
      f.pop();
    }
    f.finish(3);
  });
}

TEST_P(deque_model, a_lost_race_changes_nothing) {
  expect_passes(model::exhaustively(), [payer = GetParam()] {
    fixture<queue::deque_fences> f(payer);
    f.push(0);
    f.push(1);
    int taken = 0;
    const auto steal = [&] {
      const auto got = f.queue.steal();
      check((got.item != nullptr) == (got.status == steal_status::taken), "status and item disagree");
      f.book.take(got.item);
      taken += got.status == steal_status::taken ? 1 : 0;
    };
    {
      model::thread first(steal);
      model::thread second(steal);
    }
    check(taken >= 1, "both thieves lost"); // lock-free: somebody wins
    f.finish(2);
  });
}

// --- mutations: without one of its fences the deque must be found broken ---

void nothing() noexcept {}

struct without_light : queue::deque_fences {
  /// The owner claims to use the asymmetric pair, the thief pays only an ordinary fence.
  static void thief_heavy() noexcept { base::full_fence(); }
};
struct without_heavy : queue::deque_fences {
  static void thief_heavy() noexcept { nothing(); }
};
struct without_owner_full : queue::deque_fences {
  static void owner_full() noexcept { nothing(); }
};
struct without_thief_full : queue::deque_fences {
  static void thief_full() noexcept { nothing(); }
};
/// Both halves there, but of different pairs: what a change of payer without the bit in top_ would do.
struct mixed : queue::deque_fences {
  static void owner_full() noexcept { base::unsafe_light_fence(); }
};

template <class Fences>
void expect_broken(fence_payer payer) {
  expect_fails(model::exactly(3, 3), "taken twice", [=] { pops_against_thieves<Fences>(payer, 2, 2, 1, 2); });
}

TEST(deque_mutation, heavy_fence_weakened_to_a_full_one) {
  expect_broken<without_light>(fence_payer::thief);
}
TEST(deque_mutation, heavy_fence_removed) {
  expect_broken<without_heavy>(fence_payer::thief);
}
TEST(deque_mutation, owner_fence_removed) {
  expect_broken<without_owner_full>(fence_payer::owner);
}
TEST(deque_mutation, thief_fence_removed) {
  expect_broken<without_thief_full>(fence_payer::owner);
}
TEST(deque_mutation, pairs_mixed) {
  expect_broken<mixed>(fence_payer::owner);
}

// --- every order that is not needed is known ---

TEST(deque_weakened, deque) {
  std::vector<model::scenario> scenarios;
  for (const fence_payer payer : {fence_payer::owner, fence_payer::thief}) {
    scenarios.push_back({model::exactly(3, 2), [payer] { pops_against_thieves(payer, 2, 2, 1, 2); }});
    scenarios.push_back({model::exactly(3, 2), [payer] { push_is_published(payer); }});
    scenarios.push_back({model::exactly(3, 2), [payer] { growth_against_a_thief(payer); }});
    scenarios.push_back({model::exactly(3, 2), [payer] { wrap_around(payer); }});
  }
  model::expect_every_weakening_is_found(
      scenarios, {{"chase_lev_deque.hpp: chase_lev_deque::steal: load -> relaxed",
                   "the fences of (Q2) stand between it and what it is paired with"},
                  {"chase_lev_deque.hpp: chase_lev_deque::steal: load -> relaxed (2)",
                   "the array is the first one, or the compare-and-swap fails: an item of a newer one is "
                   "published by (Q1) too"},
                  {"chase_lev_deque.hpp: chase_lev_deque::steal: cas -> acquire",
                   "what the thief has read is put away by the fence before the owner reuses the slot"},
                  {"chase_lev_deque.hpp: chase_lev_deque::steal: cas -> release",
                   "the fences of (Q2) stand between it and what it is paired with"},
                  {"chase_lev_deque.hpp: chase_lev_deque::set_payer: cas -> acquire",
                   "one location: its modification order is enough"},
                  {"chase_lev_deque.hpp: chase_lev_deque::set_payer: cas -> release",
                   "one location: its modification order is enough"},
                  {"chase_lev_deque.hpp: chase_lev_deque::wins_last: cas -> acquire",
                   "one winner by the modification order alone"},
                  {"chase_lev_deque.hpp: chase_lev_deque::wins_last: cas -> release",
                   "one winner by the modification order alone"},
                  {"chase_lev_deque.hpp: chase_lev_deque::try_push_slowly: load -> relaxed",
                   "thieves read slots by atomic loads: a reuse that came early would be lost by their "
                   "compare-and-swap"}});
}

} // namespace
} // namespace weft
