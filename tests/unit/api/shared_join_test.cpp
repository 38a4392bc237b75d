// SPDX-License-Identifier: MIT
// Joins of threads in a pool that all workers share: the joiner takes them out of it, in whatever order.
#include <algorithm>
#include <atomic>
#include <memory>
#include <random>
#include <vector>

#include "tests/unit/api/inline_join.hpp"

namespace weft::test {
namespace {

class shared_joins : public joins {};
INSTANTIATE_TEST_SUITE_P(layouts, shared_joins, ::testing::Values(shared_1, shared_4), name_of);

class shared_joins_alone : public joins {};
INSTANTIATE_TEST_SUITE_P(layouts, shared_joins_alone, ::testing::Values(shared_1), name_of);

TEST_P(shared_joins_alone, run_a_thread_on_the_joiners_stack) {
  from_main_and_a_thread([] { EXPECT_TRUE(join_inline([] {})); });
}

TEST_P(shared_joins_alone, take_a_thread_out_of_its_turn) {
  bool first_ran = false, second_ran = false;
  thread first([&first_ran] { first_ran = true; });
  thread second([&second_ran] { second_ran = true; });
  renew_budget();
  second.join();
  EXPECT_TRUE(second_ran);
  EXPECT_FALSE(first_ran);
  first.join();
  EXPECT_TRUE(first_ran);
}

TEST_P(shared_joins_alone, go_on_with_a_thread_that_has_yielded) {
  int steps = 0;
  thread yields([&steps] {
    ++steps;
    this_thread::yield();
    ++steps;
  });
  while (steps == 0)
    this_thread::yield();
  bool other_ran = false;
  thread other([&other_ran] { other_ran = true; });
  if (steps == 1) {
    renew_budget();
    yields.join();
    EXPECT_FALSE(other_ran);
  } else {
    yields.join();
  }
  EXPECT_EQ(steps, 2);
  other.join();
}

// Those that yield go behind the others, also past the worker's loop, and the primary thread with them.
TEST_P(shared_joins_alone, yields_keep_the_order) {
  from_main_and_a_thread([] {
    std::vector<int> order;
    std::vector<thread> threads;
    for (int i = 0; i < 5; ++i) {
      threads.emplace_back([&order, i] {
        for (int k = 0; k < 20; ++k) {
          order.push_back(i);
          this_thread::yield();
        }
      });
    }
    for (int k = 0; k < 25; ++k)
      this_thread::yield();
    for (thread& t : threads)
      t.join();
    ASSERT_EQ(order.size(), 100U);
    for (std::size_t i = 0; i < order.size(); ++i)
      EXPECT_EQ(order[i], static_cast<int>(i % 5)) << i;
  });
}

// What may run on one worker only has its turn beside a shared pool that is never empty.
TEST_P(shared_joins_alone, leave_main_its_turn) {
  long others = 0;
  bool stop = false;
  std::vector<thread> threads;
  for (int i = 0; i < 10; ++i) {
    threads.emplace_back([&] {
      while (!stop) {
        ++others;
        this_thread::yield();
      }
    });
  }
  for (int k = 0; k < 500; ++k)
    this_thread::yield();
  EXPECT_LE(others, 500 * 20);
  stop = true;
  for (thread& t : threads)
    t.join();
}

// Of four workers one is the primary kernel thread, and what only that may run comes back to it.
TEST_P(shared_joins, the_primary_thread_stays_where_it_is) {
  const unsigned mine = worker_here();
  std::atomic<bool> stop{false};
  std::vector<thread> threads;
  for (int i = 0; i < 16; ++i) {
    threads.emplace_back([&stop] {
      while (!stop)
        this_thread::yield();
    });
  }
  for (int k = 0; k < 2000; ++k) {
    this_thread::yield();
    ASSERT_EQ(worker_here(), mine);
  }
  stop = true;
  for (thread& t : threads)
    t.join();
}

TEST_P(shared_joins, leave_cancelled_and_moving_threads_to_the_loop) {
  from_main_and_a_thread([] {
    std::vector<thread> threads;
    for (int i = 0; i < 20; ++i)
      threads.emplace_back([] { this_thread::yield(); });
    for (std::size_t i = 0; i < threads.size(); i += 2)
      threads[i].cancel();
    for (thread& t : threads)
      t.join();
  });
}

// Joiners and workers want the same threads; each must run once.
TEST_P(shared_joins, race_for_the_threads) {
  const int joiners = 4, each = slow_build() ? 200 : 2000;
  std::vector<std::unique_ptr<std::atomic<int>>> runs;
  for (int i = 0; i < joiners * each; ++i)
    runs.push_back(std::make_unique<std::atomic<int>>(0));
  std::vector<thread> all;
  for (int j = 0; j < joiners; ++j) {
    all.emplace_back([&, j] {
      std::mt19937 random(static_cast<unsigned>(j));
      std::vector<thread> mine;
      for (int i = 0; i < each; ++i) {
        std::atomic<int>& count = *runs[static_cast<std::size_t>(j * each + i)];
        const unsigned yields = random() % 3;
        mine.emplace_back([&count, yields] {
          for (unsigned k = 0; k < yields; ++k)
            this_thread::yield();
          ++count;
        });
        if (random() % 8 == 0)
          this_thread::yield();
      }
      std::shuffle(mine.begin(), mine.end(), random);
      for (thread& t : mine)
        t.join();
    });
  }
  for (thread& t : all)
    t.join();
  for (const auto& count : runs)
    EXPECT_EQ(*count, 1);
}

} // namespace
} // namespace weft::test
