// SPDX-License-Identifier: MIT
// The rules of packing, and regions: Algorithm 1, McNaughton's wrap-around, and threads that are laid out by
// it.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <system_error>
#include <vector>

#include "tests/unit/census_check.hpp"
#include "weft/packing.hpp"
#include "weft/preempt/ticks.hpp"
#include "weft/runtime.hpp"
#include "weft/thread.hpp"

namespace weft::test {
namespace {

using sched::packing_turns;
using sched::wrap_around;

// --- Algorithm 1 ---

// Pools that are never empty: which ones are taken from.
std::vector<unsigned> taken(unsigned rank, unsigned active, unsigned total, int times) {
  packing_turns turns;
  std::vector<unsigned> from;
  for (int k = 0; k < times; ++k)
    from.push_back(*turns.pick(rank, active, total, true, [](unsigned i) { return std::optional(i); }));
  return from;
}

TEST(algorithm_1, its_own_pool_if_all_are_active) {
  for (unsigned rank = 0; rank < 4; ++rank)
    EXPECT_EQ(taken(rank, 4, 4, 3), std::vector<unsigned>(3, rank));
}

TEST(algorithm_1, own_and_shared_pools_in_turn) {
  EXPECT_EQ(taken(1, 3, 4, 4), (std::vector<unsigned>{1, 3, 1, 3}));
  EXPECT_EQ(taken(2, 5, 8, 6), (std::vector<unsigned>{2, 6, 2, 7, 2, 5}));
}

TEST(algorithm_1, several_own_pools_where_half_of_the_workers_or_fewer_are_active) {
  EXPECT_EQ(taken(0, 2, 4, 4), (std::vector<unsigned>{2, 0, 2, 0}));
  const std::vector<unsigned> from = taken(1, 3, 7, 6); // own: 1 and 4, shared: 6
  EXPECT_EQ(std::count(from.begin(), from.end(), 6U), 3);
  EXPECT_EQ(std::count(from.begin(), from.end(), 1U) + std::count(from.begin(), from.end(), 4U), 3);
}

TEST(algorithm_1, what_is_left_elsewhere) {
  packing_turns turns;
  const auto only_two = [](unsigned i) { return i == 2 ? std::optional(i) : std::nullopt; };
  EXPECT_EQ(turns.pick(0, 4, 4, true, only_two), 2U);
  EXPECT_EQ(turns.pick(0, 4, 4, false, only_two), std::nullopt);
  EXPECT_EQ(turns.pick(0, 4, 4, true, [](unsigned) { return std::optional<unsigned>(); }), std::nullopt);
}

// --- the wrap-around rule ---

// What each worker does when, and whether that can be: no thread on two workers at once, each for its time.
void expect_valid(const std::vector<std::int64_t>& times, unsigned workers, std::int64_t least) {
  const wrap_around laid(times, workers, least);
  ASSERT_EQ(laid.places.size(), times.size());
  std::vector<std::int64_t> at(workers, 0);
  std::vector<std::int64_t> first_ends(times.size(), 0);
  unsigned seen = 0, cuts = 0;
  for (unsigned w = 0; w < workers; ++w) {
    for (const unsigned i : laid.orders[w]) {
      ++seen;
      const auto& p = laid.places[i];
      EXPECT_EQ(p.worker, w);
      if (p.slice != 0) {
        ++cuts;
        EXPECT_EQ(at[w], 0) << "a thread that is cut begins at once";
        EXPECT_LT(p.second, w);
        EXPECT_GE(p.slice, least);
        EXPECT_GE(times[i] - p.slice, least);
        first_ends[i] = p.slice;
      }
      at[w] += p.slice != 0 ? p.slice : times[i];
    }
  }
  EXPECT_EQ(seen, times.size());
  EXPECT_LT(cuts, workers);
  for (unsigned i = 0; i < times.size(); ++i) {
    if (laid.places[i].slice == 0)
      continue;
    const unsigned second = laid.places[i].second;
    EXPECT_GE(at[second], first_ends[i]) << "its second part comes after its first";
    at[second] += times[i] - laid.places[i].slice;
  }
  for (const std::int64_t end : at)
    EXPECT_LE(end, laid.length + 6 * least);
}

TEST(wrap_around_rule, equal_threads) {
  for (unsigned n = 1; n <= 28; ++n) {
    expect_valid(std::vector<std::int64_t>(28, 1000), n, 0);
    expect_valid(std::vector<std::int64_t>(28, 1000), n, 50);
  }
}

TEST(wrap_around_rule, the_longest_thread_bounds_it) {
  const wrap_around laid(std::vector<std::int64_t>{10, 1, 1}, 2, 0);
  EXPECT_EQ(laid.length, 10);
  expect_valid({10, 1, 1}, 2, 0);
  expect_valid({1, 10, 1, 10, 3}, 2, 0);
}

TEST(wrap_around_rule, random_threads) {
  const unsigned long seed = std::random_device{}();
  std::printf("seed %lu\n", seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::int64_t> times(1 + random() % 40);
    for (auto& t : times)
      t = 1 + static_cast<std::int64_t>(random() % 100'000);
    expect_valid(times, 1 + static_cast<unsigned>(random() % 12), static_cast<std::int64_t>(random() % 3000));
  }
}

// --- regions ---

void compute(std::chrono::microseconds length) {
  const auto end = std::chrono::steady_clock::now() + length;
  while (std::chrono::steady_clock::now() < end) {
  }
}

void do_steps(int count) {
  for (volatile int step = 0; step < count;)
    step = step + 1;
}

class region : public ::testing::TestWithParam<unsigned> {
 protected:
  void SetUp() override {
    if (!can_preempt(preemption::own_tls))
      GTEST_SKIP() << "not on this machine";
    ASSERT_TRUE(runtime::start({.workers = GetParam(), .pools = arrangement::packing}));
    preempt::set_interval(std::chrono::milliseconds(1));
    census_.begin();
  }
  void TearDown() override {
    if (IsSkipped())
      return;
    census_.end();
    EXPECT_TRUE(runtime::stop());
  }
  static worker_group& group() { return runtime::default_group(); }

 private:
  census_check census_;
};

INSTANTIATE_TEST_SUITE_P(workers, region, ::testing::Values(1U, 2U, 4U, 8U));

TEST_P(region, calls_each_once_whatever_is_active) {
  packed_region r(group());
  for (unsigned n = GetParam(); n >= 1; --n) {
    group().set_active_workers(n);
    for (const unsigned threads : {1U, 3U, GetParam(), 2 * GetParam() + 1}) {
      for (int k = 0; k < 3; ++k) {
        std::vector<std::atomic<int>> calls(threads);
        r.run(threads, [&](unsigned i) {
          compute(std::chrono::microseconds(100));
          ++calls[i];
        });
        for (const auto& c : calls)
          EXPECT_EQ(c, 1);
        ASSERT_EQ(r.times().size(), threads);
        EXPECT_EQ(r.was_planned(), k != 0 && threads > n);
      }
    }
  }
}

TEST_P(region, learns_how_long_its_threads_run) {
  packed_region r(group());
  // Steps, not time: others may have the CPU for most of it. A CPU that does five in a nanosecond takes 1 ms.
  r.run(3, [](unsigned i) { do_steps(i == 1 ? 5'000'000 : 500'000); });
  EXPECT_GT(r.times()[1], 1'000'000);
  EXPECT_GT(r.times()[0], 0);
  r.forget();
  EXPECT_TRUE(r.times().empty());
  r.run(3, [](unsigned) {});
  EXPECT_FALSE(r.was_planned());
}

// Threads that wait for each other, and only spin: a plan that nobody can follow must give way.
TEST_P(region, threads_that_spin_for_each_other_end) {
  packed_region r(group());
  const unsigned threads = 2 * GetParam() + 1;
  for (int k = 0; k < 4; ++k) {
    std::atomic<unsigned> there{0};
    r.run(threads, [&](unsigned) {
      if (k == 0)
        return; // learned to be short
      ++there;
      while (there.load(std::memory_order_relaxed) < threads) {
      }
    });
  }
}

TEST_P(region, threads_may_wait_and_use_the_interface) {
  packed_region r(group());
  for (int k = 0; k < 4; ++k) {
    std::atomic<int> ran{0};
    r.run(2 * GetParam(), [&](unsigned) {
      this_thread::yield();
      thread child([&] { ++ran; });
      compute(std::chrono::microseconds(50));
      child.join();
    });
    EXPECT_EQ(ran, static_cast<int>(2 * GetParam()));
  }
}

TEST_P(region, several_at_once_and_one_in_another) {
  std::atomic<int> ran{0};
  std::vector<thread> threads;
  for (int k = 0; k < 4; ++k) {
    threads.emplace_back([&] {
      packed_region outer(group()), inner(group());
      for (int round = 0; round < 3; ++round) {
        outer.run(3, [&](unsigned i) {
          if (i == 0)
            inner.run(3, [&](unsigned) { ++ran; });
          ++ran;
        });
      }
    });
  }
  for (thread& t : threads)
    t.join();
  EXPECT_EQ(ran, 4 * 3 * 6);
}

TEST_P(region, without_a_plan_and_with_the_other_kind) {
  packed_region::options o;
  o.planned = packed_region::plan::none;
  packed_region never(group(), o);
  o.preemption = preemption::signal_yield;
  o.planned = packed_region::plan::wrap_around;
  packed_region pinned(group(), o);
  for (int k = 0; k < 3; ++k) {
    std::atomic<unsigned> ran{0};
    const auto work = [&](unsigned) {
      compute(std::chrono::microseconds(300));
      ++ran;
    };
    never.run(2 * GetParam(), work);
    EXPECT_FALSE(never.was_planned());
    pinned.run(2 * GetParam(), work);
    EXPECT_EQ(ran, 4 * GetParam());
  }
}

TEST_P(region, the_number_of_workers_changes_between_runs_and_during_them) {
  const unsigned long seed = std::random_device{}();
  std::printf("seed %lu\n", seed);
  std::mt19937 random(static_cast<unsigned>(seed));
  packed_region r(group());
  for (int k = 0; k < 30; ++k) {
    std::atomic<unsigned> ran{0};
    const unsigned now = 1 + random() % GetParam(), later = 1 + random() % GetParam();
    group().set_active_workers(now);
    r.run(2 * GetParam(), [&](unsigned i) {
      if (i == 0)
        group().set_active_workers(later);
      compute(std::chrono::microseconds(200));
      ++ran;
    });
    EXPECT_EQ(ran, 2 * GetParam());
  }
}

// Two workers, three threads as long as each other: one is cut. All go on until one has been preempted; ticks
// by the interval would do that too, but take more than a second.
TEST(region_of_three, is_cut_as_planned) {
  if (!can_preempt(preemption::own_tls))
    GTEST_SKIP() << "not on this machine";
  ASSERT_TRUE(runtime::start({.workers = 2, .pools = arrangement::packing}));
  preempt::set_interval(std::chrono::seconds(1));
  {
    packed_region r(runtime::default_group());
    r.run(3, [](unsigned) { compute(std::chrono::milliseconds(20)); });
    const std::size_t before = preempt::counts().preemptions;
    r.run(3, [before](unsigned) {
      while (preempt::counts().preemptions == before) {
      }
    });
    EXPECT_TRUE(r.was_planned());
  }
  preempt::set_interval(std::chrono::milliseconds(1)); // for the tests that follow
  EXPECT_TRUE(runtime::stop());
}

// What such a thread began on a worker it must end there: a worker that has some takes no other worker's.
TEST(algorithm_1, leaves_others_threads_alone_while_it_has_pinned_ones) {
  if (!can_preempt(preemption::signal_yield))
    GTEST_SKIP() << "not on this machine";
  ASSERT_TRUE(runtime::start({.workers = 2, .pools = arrangement::packing}));
  preempt::set_interval(std::chrono::seconds(1)); // the monitor keeps still
  const auto on = [](unsigned worker, preemption kind) {
    thread_attributes a;
    while ((a.pool = runtime::default_group().member(worker).main_pool.load_acquire()) == nullptr)
      this_thread::yield();
    a.preemption = kind;
    return a;
  };
  std::atomic<bool> keeps_busy{true}, busy{false};
  std::atomic<bool> left_ran{false};
  thread computes(on(1, preemption::none), [&] {
    busy = true;
    while (keeps_busy) {
    }
  });
  while (!busy)
    this_thread::yield();
  std::vector<thread> pinned;
  for (int i = 0; i < 2; ++i) {
    pinned.emplace_back(on(0, preemption::signal_yield), [&] {
      for (int k = 0; k < 10; ++k)
        preempt::tick_self();
      EXPECT_FALSE(left_ran);
    });
  }
  thread left(on(1, preemption::none), [&] { left_ran = true; });
  for (thread& t : pinned)
    t.join();
  keeps_busy = false;
  computes.join();
  left.join();
  preempt::set_interval(std::chrono::milliseconds(1));
  EXPECT_TRUE(runtime::stop());
}

// A thread for each worker: no plan, but none has to leave before it has run as long as the last time.
TEST(region_of_two, lets_each_run_to_its_end) {
  if (!can_preempt(preemption::own_tls))
    GTEST_SKIP() << "not on this machine";
  ASSERT_TRUE(runtime::start({.workers = 2, .pools = arrangement::packing}));
  {
    packed_region r(runtime::default_group());
    std::atomic<int> unhurried{0};
    const auto count = [&unhurried](unsigned) {
      const auto unhurried_at = [](unsigned worker) {
        return runtime::default_group().member(worker).preemption.unhurried_until.load_relaxed() != 0;
      };
      compute(std::chrono::milliseconds(1));
      unhurried += unhurried_at(0) || unhurried_at(1) ? 1 : 0;
    };
    r.run(2, count);
    EXPECT_EQ(unhurried, 0);
    r.run(2, count);
    EXPECT_EQ(unhurried, 2);
    EXPECT_FALSE(r.was_planned());
  }
  EXPECT_TRUE(runtime::stop());
}

TEST(region_errors, what_cannot_be_is_refused) {
  ASSERT_TRUE(runtime::start({.workers = 2}));
  EXPECT_THROW(packed_region{runtime::default_group()}, std::system_error);
  EXPECT_TRUE(runtime::stop());
  ASSERT_TRUE(runtime::start({.workers = 2, .pools = arrangement::packing}));
  {
    packed_region::options o;
    o.preemption = preemption::none;
    EXPECT_THROW((packed_region{runtime::default_group(), o}), std::system_error);
    packed_region r(runtime::default_group());
    EXPECT_THROW(r.run(0, [](unsigned) {}), std::system_error);
  }
  EXPECT_TRUE(runtime::stop());
}

} // namespace
} // namespace weft::test
