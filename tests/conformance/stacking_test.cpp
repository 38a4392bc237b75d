// SPDX-License-Identifier: MIT
// Conformance: schedulers pushed into pools, one and two deep, and schedulers replaced at run time.
#include "tests/conformance/cell.hpp"

namespace weft::conformance {
namespace {

WEFT_CONFORMANCE(stacking);

void join_unit(unit_handle& u) {
  sched::join(u);
  sched::free_unit(sched::here(), u);
}

// Threads that yield `rounds` times in a pool that nobody serves yet.
std::vector<thread> fill(pool& p, int count, int rounds, std::atomic<int>& ended) {
  std::vector<thread> threads;
  thread_attributes a;
  a.pool = &p;
  for (int i = 0; i < count; ++i) {
    threads.emplace_back(a, [rounds, &ended] {
      for (int k = 0; k < rounds; ++k)
        this_thread::yield();
      ++ended;
    });
  }
  return threads;
}

void join_all(std::vector<thread>& threads) {
  for (auto& t : threads)
    t.join();
}

TEST_P(stacking, a_scheduler_in_a_pool) {
  for (int round = 0; round < scaled(4); ++round) {
    auto inner = make_pool_of(GetParam().pools);
    std::atomic<int> ended{0};
    auto threads = fill(*inner, 6, 3, ended);
    auto& u =
        sched::push_scheduler(main_pool(workers() - 1), std::make_shared<fifo_scheduler>(std::vector{inner}));
    join_all(threads);
    join_unit(u);
    EXPECT_EQ(ended, 6);
    EXPECT_TRUE(inner->empty());
    EXPECT_EQ(inner->owner(), nullptr);
  }
}

TEST_P(stacking, two_deep) {
  auto outer = make_pool_of(GetParam().pools);
  auto inner = make_pool_of(GetParam().pools);
  std::atomic<int> ended{0};
  auto in_outer = fill(*outer, 4, 3, ended);
  auto in_inner = fill(*inner, 4, 3, ended);
  auto& second = sched::push_scheduler(*outer, std::make_shared<priority_scheduler>(std::vector{inner}));
  auto& first = sched::push_scheduler(main_pool(0), std::make_shared<fifo_scheduler>(std::vector{outer}));
  join_all(in_outer);
  join_all(in_inner);
  join_unit(second);
  join_unit(first);
  EXPECT_EQ(ended, 8);
}

// More decisions than a stacked scheduler may make in one go: it goes back to its parent in between, whose
// units get on.
TEST_P(stacking, it_yields_to_its_parent) {
  auto inner = make_pool_of(GetParam().pools);
  std::atomic<int> ended{0};
  std::atomic<bool> parent_ran{false};
  thread_attributes a;
  a.pool = inner.get();
  thread spins(a, [&] {
    for (int k = 0; k < 1000 || (GetParam().fair() && !parent_ran); ++k)
      this_thread::yield();
    ++ended;
  });
  auto& u = sched::push_scheduler(main_pool(0), std::make_shared<fifo_scheduler>(std::vector{inner}));
  thread of_the_parent(in_pool(0), [&] { parent_ran = true; });
  spins.join();
  of_the_parent.join();
  join_unit(u);
  EXPECT_EQ(ended, 1);
}

TEST_P(stacking, threads_wait_for_each_other_below) {
  auto inner = make_pool_of(GetParam().pools);
  std::atomic<int> sum{0};
  thread_attributes a;
  a.pool = inner.get();
  thread root(a, [&] {
    std::vector<thread> children;
    for (int i = 0; i < 5; ++i) {
      children.emplace_back([&sum, i] {
        this_thread::yield();
        sum += i;
      });
    }
    for (auto& t : children)
      t.join();
  });
  auto& u = sched::push_scheduler(main_pool(0), std::make_shared<fifo_scheduler>(std::vector{inner}));
  root.join();
  join_unit(u);
  EXPECT_EQ(sum, 10);
}

// The last member hands on to its joiner, which lives outside: so does what it creates then, for nobody
// serves the inner pool any longer.
TEST_P(stacking, who_joins_from_outside_stays_outside) {
  std::atomic<int> inside{0};
  thread outside(in_pool(0), [&] {
    for (int round = 0; round < scaled(4); ++round) {
      auto inner = make_pool_of(GetParam().pools);
      std::atomic<int> ended{0};
      auto threads = fill(*inner, 1, 1, ended);
      auto below = std::make_shared<fifo_scheduler>(std::vector{inner});
      auto& u = sched::push_scheduler(main_pool(0), std::move(below));
      join_all(threads);
      thread child([] { this_thread::yield(); });
      inside += child.native_handle()->own_pool.is(inner.get()) ? 1 : 0;
      child.join();
      join_unit(u);
    }
  });
  outside.join();
  EXPECT_EQ(inside, 0);
}

TEST_P(stacking, an_empty_scheduler_ends_at_once) {
  auto& u = sched::push_scheduler(
      main_pool(0), std::make_shared<fifo_scheduler>(std::vector{make_pool_of(GetParam().pools)}));
  join_unit(u);
}

TEST_P(stacking, set_scheduler_at_run_time) {
  std::atomic<bool> stop{false};
  std::atomic<int> rounds{0};
  std::vector<thread> threads;
  for (unsigned i = 0; i < 2 * workers(); ++i) {
    threads.emplace_back(in_pool(i), [&] {
      while (!stop) {
        this_thread::yield();
        ++rounds;
      }
    });
  }
  for (int k = 0; k < scaled(4); ++k) {
    for (unsigned i = 0; i < workers(); ++i)
      group().set_scheduler(group().member(i), make_scheduler(i));
    const int seen = rounds;
    EXPECT_TRUE(eventually([&] { return rounds > seen; }));
  }
  EXPECT_THROW(group().set_scheduler(group().member(0), nullptr), std::system_error);
  stop = true;
  for (auto& t : threads)
    t.join();
  std::atomic<int> ran{0};
  for_each_thread(2 * static_cast<int>(workers()), [&ran](int) { ++ran; }); // each pool is still served
  EXPECT_EQ(ran, 2 * static_cast<int>(workers()));
}

} // namespace
} // namespace weft::conformance
