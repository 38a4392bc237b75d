// SPDX-License-Identifier: MIT
// The shipped schedulers by themselves: which pool they take from.
#include "weft/workers/scheduler.hpp"

#include <list>
#include <set>
#include <system_error>

#include "tests/unit/sched/fixture.hpp"

namespace weft::sched::test {
namespace {

struct scheduler_test : ::testing::Test {
  std::list<dummy> units;
  stage people;
  worker& self = people.first();

  // Shared pools with `counts[i]` units each.
  std::vector<std::shared_ptr<pool>> pools(std::initializer_list<int> counts) {
    std::vector<std::shared_ptr<pool>> result;
    for (const int count : counts) {
      result.push_back(make_pool(order::fifo, access::mpmc));
      for (int i = 0; i < count; ++i)
        result.back()->push(units.emplace_back(*result.back()));
    }
    return result;
  }
  // The numbers of the pools from which units come until none is left.
  std::vector<int> picks(scheduler& s) {
    std::vector<int> order;
    while (descriptor* u = s.next(self)) {
      for (int i = 0; i < static_cast<int>(s.pools().size()); ++i) {
        if (u->own_pool == s.pools()[static_cast<std::size_t>(i)].get())
          order.push_back(i);
      }
    }
    return order;
  }
};

TEST_F(scheduler_test, fifo_takes_turns) {
  fifo_scheduler s(pools({2, 0, 3}));
  EXPECT_TRUE(s.has_work());
  EXPECT_EQ(picks(s), (std::vector<int>{0, 2, 0, 2, 2}));
  EXPECT_FALSE(s.has_work());
  EXPECT_EQ(s.hot_pool(), nullptr);
  fifo_scheduler one(pools({1}));
  EXPECT_EQ(one.hot_pool(), &one.main_pool());
}

TEST_F(scheduler_test, priority_is_strict) {
  priority_scheduler s(pools({1, 2, 1}));
  EXPECT_EQ(picks(s), (std::vector<int>{0, 1, 1, 2}));
}

TEST_F(scheduler_test, stealing_begins_at_home_and_finds_everything) {
  random_stealing_scheduler s(pools({3, 2, 0, 2}));
  const std::vector<int> order = picks(s);
  ASSERT_EQ(order.size(), 7U);
  EXPECT_EQ(std::vector<int>(order.begin(), order.begin() + 3), (std::vector<int>{0, 0, 0}));
  EXPECT_EQ(std::multiset<int>(order.begin() + 3, order.end()), (std::multiset<int>{1, 1, 3, 3}));
  EXPECT_EQ(s.next(self), nullptr);
}

TEST_F(scheduler_test, hierarchical_goes_outwards) {
  hierarchical_scheduler s(pools({1, 2, 2, 1, 1}), {1, 1, 2, 5});
  const std::vector<int> order = picks(s);
  ASSERT_EQ(order.size(), 7U);
  EXPECT_EQ(order[0], 0);
  EXPECT_EQ(std::multiset<int>(order.begin() + 1, order.begin() + 5), (std::multiset<int>{1, 1, 2, 2}));
  EXPECT_EQ(order[5], 3);
  EXPECT_EQ(order[6], 4);
}

TEST_F(scheduler_test, wrong_arguments) {
  EXPECT_THROW(fifo_scheduler(std::vector<std::shared_ptr<pool>>{}), std::system_error);
  EXPECT_THROW(priority_scheduler({nullptr}), std::system_error);
  EXPECT_THROW(hierarchical_scheduler(pools({0, 0}), {}), std::system_error);
  EXPECT_THROW(hierarchical_scheduler(pools({0, 0, 0}), {2, 1}), std::system_error);
}

TEST_F(scheduler_test, start_attaches_all_pools_or_none) {
  std::shared_ptr<pool> free = make_pool(order::fifo, access::mpsc);
  std::shared_ptr<pool> taken = make_pool(order::fifo, access::mpsc);
  taken->attach(people.second());
  fifo_scheduler s({free, taken});
  EXPECT_THROW(s.start(self), std::system_error);
  EXPECT_EQ(free->owner(), nullptr);
  taken->detach(people.second());
  s.start(self);
  EXPECT_EQ(free->owner(), &self);
  EXPECT_EQ(taken->owner(), &self);
  s.stop(self);
  EXPECT_EQ(free->owner(), nullptr);
  EXPECT_EQ(taken->owner(), nullptr);
}

struct counting_policy {
  explicit counting_policy(int start) : asked(start) {}
  descriptor* next(worker& here, std::span<const std::shared_ptr<pool>> from) {
    ++asked;
    return from.back()->pop(here);
  }
  int asked;
};
static_assert(picking_policy<counting_policy>);
static_assert(!picking_policy<int>);

TEST_F(scheduler_test, a_policy_by_concept) {
  scheduler_of<counting_policy> s(pools({1, 2}), 40);
  EXPECT_EQ(picks(s), (std::vector<int>{1, 1}));
  EXPECT_EQ(s.policy().asked, 43);
  EXPECT_TRUE(s.has_work()) << "the policy never looks at the first pool";
  static_cast<void>(s.main_pool().pop(self));
}

} // namespace
} // namespace weft::sched::test
