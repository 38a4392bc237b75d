// SPDX-License-Identifier: MIT
// Classes of priority: who runs first, and who is made to leave for whom. The monitor keeps still (an
// interval of a second, and what it sees is not waited for) but where a test says otherwise: what spins here
// leaves for a kick or never.
#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <chrono>
#include <system_error>
#include <thread>
#include <vector>

#include "tests/unit/census_check.hpp"
#include "tests/unit/preempt/fixture.hpp"
#include "weft/mutex.hpp"
#include "weft/preempt/ticks.hpp"
#include "weft/preemption.hpp"
#include "weft/runtime.hpp"
#include "weft/sched/default_group.hpp"
#include "weft/semaphore.hpp"
#include "weft/sleep.hpp"
#include "weft/thread.hpp"

namespace weft::test {
namespace {

using namespace std::chrono_literals;

class priorities : public ::testing::Test {
 protected:
  void start(unsigned workers, std::chrono::microseconds interval = 1s) {
    start_ticking(sched::arrangement::priorities, workers, interval);
    this_thread::yield();
    census_.begin();
  }
  void TearDown() override {
    if (!runtime::running())
      return;
    census_.end();
    EXPECT_TRUE(runtime::stop());
  }
  static thread_attributes high() {
    thread_attributes a;
    a.priority = priority::high;
    return a;
  }
  static thread_attributes low() {
    thread_attributes a;
    a.priority = priority::low;
    return a;
  }
  static pool& pool_of(unsigned worker) {
    return *sched::default_group().member(worker).main_pool.load_acquire();
  }
  void note(int what) {
    const std::scoped_lock held(lock_);
    order_.push_back(what);
  }
  std::vector<int> order() {
    const std::scoped_lock held(lock_);
    return order_;
  }

 private:
  census_check census_;
  mutex lock_;
  std::vector<int> order_;
};

TEST_F(priorities, high_threads_in_order_then_low_ones_the_youngest_first) {
  start(1);
  std::vector<thread> threads;
  for (int i = 1; i <= 3; ++i)
    threads.emplace_back(low(), [this, i] { note(-i); });
  for (int i = 1; i <= 3; ++i)
    threads.emplace_back(high(), [this, i] {
      note(i);
      this_thread::yield();
      note(10 + i);
    });
  for (thread& t : threads)
    t.join();
  EXPECT_EQ(order(), (std::vector{1, 2, 3, 11, 12, 13, -3, -2, -1}));
}

TEST_F(priorities, a_low_thread_that_blocks_or_yields_lets_high_ones_go_first) {
  start(1);
  thread background(low(), [this] {
    note(-1);
    thread child(high(), [this] { note(1); });
    this_thread::yield();
    note(-2);
    thread same([this] { note(-3); }); // of its creator's class
    thread other(high(), [this] { note(2); });
    same.join();
    child.join();
    other.join();
  });
  background.join();
  EXPECT_EQ(order(), (std::vector{-1, 1, -2, 2, -3}));
}

TEST_F(priorities, tasklets_and_threads_from_outside_have_classes) {
  start(1);
  counting_semaphore<> done(0);
  std::atomic<bool> made{false};
  std::thread outside([&] { // main holds the worker until all are made
    thread first(low(), [this] { note(-1); });
    tasklet second(low(), [this] { note(-2); });
    thread third(high(), [this] { note(1); });
    tasklet fourth(high(), [this] { note(2); });
    made = true;
    first.join();
    second.join();
    third.join();
    fourth.join();
    done.release();
  });
  while (!made)
    std::this_thread::yield();
  done.acquire();
  outside.join();
  const std::vector<int> expected_first = {1, 2};
  const std::vector<int> all = order();
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ((std::vector{all[0], all[1]}), expected_first);
}

TEST_F(priorities, a_yield_among_low_threads_is_for_the_others) {
  start(1);
  std::atomic<bool> seen{false};
  thread second(low(), [&seen] { seen = true; });
  thread first(low(), [&seen] { // the youngest: starts first
    while (!seen)
      this_thread::yield();
  });
  first.join();
  second.join();
}

// One worker is kept by a thread. The pools of worker 0 hold a high thread and three low ones, and the worker
// that is let go has a low one of its own.
TEST_F(priorities, a_thief_takes_low_threads_last_and_the_oldest_first) {
  start(2);
  std::atomic<int> held{0};
  std::atomic<bool> let_0_go{false}, let_1_go{false};
  const auto keep = [&held](std::atomic<bool>& until) {
    ++held;
    while (!until)
      ::sched_yield();
  };
  thread_attributes at_0 = high(), low_at_0 = low();
  at_0.pool = low_at_0.pool = &pool_of(0);
  counting_semaphore<> done(0);
  std::thread outside([&] {
    std::vector<thread> threads;
    threads.emplace_back(at_0, [&] { keep(let_0_go); });
    threads.emplace_back(at_0, [&] { keep(let_1_go); });
    while (held != 2) // on a worker each, whoever took which
      std::this_thread::yield();
    for (int i = 1; i <= 3; ++i)
      threads.emplace_back(low_at_0, [this, i] { note(-i); });
    threads.emplace_back(at_0, [this] { note(1); });
    // Worker 1 is let go, whichever of the two it runs.
    const bool first_is_on_0 = sched::default_group().member(0).current == threads[0].native_handle();
    thread_attributes low_at_1 = low();
    low_at_1.pool = &pool_of(1);
    threads.emplace_back(low_at_1, [this] { note(-9); });
    (first_is_on_0 ? let_1_go : let_0_go) = true;
    while (order().size() != 5)
      std::this_thread::yield();
    let_0_go = let_1_go = true;
    for (thread& t : threads)
      t.join();
    done.release();
  });
  done.acquire();
  outside.join();
  EXPECT_EQ(order(), (std::vector{1, -9, -1, -2, -3}));
}

TEST_F(priorities, low_is_refused_where_there_are_no_classes) {
  start_ticking(sched::arrangement::stealing, 1, 1s);
  try {
    thread t(low(), [] {});
    t.join();
    FAIL();
  } catch (const std::system_error& e) {
    EXPECT_EQ(e.code(), std::errc::not_supported);
  }
  thread t(high(), [] {});
  t.join();
  thread_attributes wrong;
  wrong.priority = static_cast<priority>(3);
  EXPECT_THROW(thread(wrong, [] {}), std::system_error);
  EXPECT_TRUE(runtime::stop());
}

TEST_F(priorities, workers_come_and_do_not_go) {
  start(1);
  runtime::set_worker_count(3);
  std::atomic<int> ran{0};
  std::vector<thread> threads;
  for (int i = 0; i < 200; ++i)
    threads.emplace_back(i % 2 == 0 ? low() : high(), [&ran] {
      this_thread::yield();
      ++ran;
    });
  for (thread& t : threads)
    t.join();
  EXPECT_EQ(ran, 200);
  EXPECT_THROW(runtime::set_worker_count(2), std::system_error);
}

// --- kicks ---

class kicks : public priorities, public ::testing::WithParamInterface<preemption> {
 protected:
  void SetUp() override {
    if (!can_preempt(GetParam()))
      GTEST_SKIP() << "not on this machine";
  }
  static thread_attributes preemptible_low() {
    thread_attributes a = low();
    a.preemption = GetParam();
    return a;
  }
  static void spin_until(const std::atomic<bool>& what) {
    while (!what.load(std::memory_order_relaxed)) {
    }
  }
  static std::size_t sent() { return preempt::counts().kicks; }
  // Of two workers.
  static bool one_is_idle() {
    const auto idle = [](unsigned i) {
      return sched::default_group().member(i).parking.spot.load() != park::idle_state::active;
    };
    return idle(0) || idle(1);
  }
};

INSTANTIATE_TEST_SUITE_P(each, kicks, ::testing::Values(preemption::signal_yield, preemption::own_tls),
                         [](const auto& info) {
                           return info.param == preemption::own_tls ? "own_tls" : "signal_yield";
                         });

TEST_P(kicks, one_from_outside_starts_while_low_ones_spin) {
  for (const unsigned workers : {1U, 2U}) {
    start(workers);
    std::atomic<bool> over{false};
    std::atomic<unsigned> spinning{0};
    std::vector<thread> spinners;
    for (unsigned i = 0; i < workers; ++i)
      spinners.emplace_back(preemptible_low(), [&] {
        ++spinning;
        spin_until(over);
      });
    const std::size_t before = sent();
    std::thread outside([&] {
      while (spinning != workers)
        std::this_thread::yield();
      for (int i = 0; i < 100; ++i) {
        thread t(high(), [this, i] { note(i); });
        t.join();
      }
      over = true;
    });
    for (thread& t : spinners)
      t.join();
    outside.join();
    EXPECT_GT(sent(), before);
    if (workers == 1) {
      TearDown();
    }
  }
  EXPECT_EQ(order().size(), 200U);
}

// The pusher keeps its own worker, and never yields.
TEST_P(kicks, one_from_another_worker_starts_while_a_low_one_spins) {
  start(2);
  std::atomic<bool> spinning{false}, over{false};
  thread spinner(preemptible_low(), [&] {
    spinning = true;
    spin_until(over);
  });
  thread pusher(high(), [&] {
    spin_until(spinning);
    for (int i = 0; i < 100; ++i) {
      std::atomic<bool> ran{false};
      thread t(high(), [&ran] { ran = true; });
      spin_until(ran);
      t.join();
    }
    over = true;
  });
  pusher.join();
  spinner.join();
}

// The loop of the other group's worker pushes who migrates, and does not look at what it pushed.
TEST_P(kicks, one_that_migrates_from_another_group_starts_while_a_low_one_spins) {
  start(1);
  group_options one;
  one.workers = 1;
  worker_group beside(one);
  std::atomic<bool> spinning{false}, over{false};
  thread spinner(preemptible_low(), [&] {
    spinning = true;
    spin_until(over);
  });
  thread_attributes there;
  there.pool = &beside.next_pool();
  thread comes(there, [&] {
    while (!spinning)
      this_thread::yield();
    this_thread::migrate_to(pool_of(0));
    over = true;
  });
  comes.join();
  spinner.join();
}

// A low thread of the other group does not leave for it: it does not serve the pool.
TEST_P(kicks, one_that_a_low_thread_of_another_group_starts_starts_while_a_low_one_spins) {
  start(1);
  group_options one;
  one.workers = 1;
  one.pools = arrangement::priorities;
  worker_group beside(one);
  std::atomic<bool> spinning{false}, over{false};
  thread spinner(preemptible_low(), [&] {
    spinning = true;
    spin_until(over);
  });
  thread_attributes there = preemptible_low();
  there.pool = &beside.next_pool();
  thread starter(there, [&] {
    spin_until(spinning);
    thread_attributes here = high();
    here.pool = &pool_of(0);
    thread t(here, [&] { over = true; });
    spin_until(over);
    t.join();
  });
  starter.join();
  spinner.join();
}

TEST_P(kicks, a_low_thread_leaves_by_itself_for_what_it_has_pushed) {
  start(1);
  const std::size_t before = sent();
  thread pusher(preemptible_low(), [this] {
    for (int i = 0; i < 10; ++i) {
      thread t(high(), [this, i] { note(i); });
      note(100 + i);
      t.join();
    }
  });
  pusher.join();
  std::vector<int> expected;
  for (int i = 0; i < 10; ++i) {
    expected.push_back(i);
    expected.push_back(100 + i);
  }
  EXPECT_EQ(order(), expected);
  EXPECT_EQ(sent(), before);
}

// main's thread runs on worker 0 only, whose pool is no pool of a class.
TEST_P(kicks, for_a_thread_that_only_this_worker_runs) {
  start(1);
  const std::size_t before = sent();
  std::atomic<bool> spinning{false}, over{false};
  counting_semaphore<> event(0);
  thread spinner(preemptible_low(), [&] {
    spinning = true;
    spin_until(over);
  });
  std::thread outside([&] {
    spin_until(spinning);
    event.release();
  });
  event.acquire();
  over = true;
  spinner.join();
  outside.join();
  EXPECT_EQ(sent(), before + 1);
}

TEST_P(kicks, none_while_a_worker_is_idle) {
  start(2);
  std::atomic<bool> spinning{false}, over{false};
  thread spinner(preemptible_low(), [&] {
    spinning = true;
    spin_until(over);
  });
  const std::size_t before = sent();
  std::thread outside([&] {
    spin_until(spinning);
    for (int i = 0; i < 50; ++i) {
      while (!one_is_idle())
        std::this_thread::yield();
      thread t(high(), [] {});
      t.join();
    }
    EXPECT_EQ(sent(), before);
    over = true;
  });
  spinner.join();
  outside.join();
}

// Both are left to the worker that is idle. It runs one, which waits for the other.
TEST_P(kicks, an_idle_worker_kicks_for_what_it_does_not_take) {
  start(2);
  std::atomic<bool> spinning{false}, over{false};
  thread spinner(preemptible_low(), [&] {
    spinning = true;
    spin_until(over);
  });
  std::thread outside([&] {
    spin_until(spinning);
    for (int i = 0; i < 50; ++i) {
      while (!one_is_idle())
        std::this_thread::yield();
      std::atomic<int> here{0};
      const auto meet = [&here] {
        ++here;
        while (here.load(std::memory_order_relaxed) != 2) {
        }
      };
      thread one(high(), meet);
      thread two(high(), meet);
      one.join();
      two.join();
    }
    over = true;
  });
  spinner.join();
  outside.join();
}

TEST_P(kicks, who_was_kicked_goes_on_before_other_low_ones) {
  start(1);
  std::atomic<bool> spinning{false}, over{false};
  thread turn(high(), [] {}); // the oldest has had its turn after the last yield
  turn.join();
  thread other(low(), [this] { note(3); });
  thread kicked(preemptible_low(), [&] {
    spinning = true;
    spin_until(over);
    note(2);
  });
  std::thread outside([&] {
    spin_until(spinning);
    thread t(high(), [this, &over] {
      note(1);
      over = true;
    });
    t.join();
  });
  kicked.join();
  other.join();
  outside.join();
  EXPECT_EQ(order(), (std::vector{1, 2, 3}));
}

TEST_P(kicks, a_tick_that_nobody_needs_changes_no_order) {
  start(1);
  thread turn(high(), [] {});
  turn.join();
  thread other(low(), [this] { note(2); });
  thread ticked(preemptible_low(), [this] {
    preempt::tick_self();
    note(1);
  });
  ticked.join();
  other.join();
  EXPECT_EQ(order(), (std::vector{1, 2}));
}

TEST_P(kicks, a_sched_yield_of_a_low_one_is_for_other_low_ones) {
  start(1);
  std::atomic<bool> seen{false};
  thread second(low(), [&seen] { seen = true; });
  thread first(preemptible_low(), [&seen] {
    while (!seen)
      ::sched_yield();
  });
  first.join();
  second.join();
}

TEST_P(kicks, a_high_one_that_sleeps_wakes_beside_low_ones_that_spin) {
  start(1, 200us);
  std::atomic<bool> over{false};
  thread sleeper(high(), [&over] {
    for (int i = 0; i < 3; ++i)
      this_thread::sleep_for(1ms);
    over = true;
  });
  thread spinner(preemptible_low(), [&over] { spin_until(over); });
  sleeper.join();
  spinner.join();
}

TEST_P(kicks, high_threads_in_crowds_over_low_ones_that_spin) {
  start(3);
  std::atomic<bool> over{false};
  std::atomic<int> ran{0};
  std::vector<thread> spinners;
  for (int i = 0; i < 6; ++i)
    spinners.emplace_back(preemptible_low(), [&over] { spin_until(over); });
  const auto crowd = [&ran] {
    for (int round = 0; round < 50; ++round) {
      std::vector<thread> threads;
      for (int i = 0; i < 8; ++i)
        threads.emplace_back(high(), [&ran] {
          this_thread::yield();
          ++ran;
        });
      for (thread& t : threads)
        t.join();
    }
  };
  std::thread outside(crowd);
  thread inside(high(), crowd);
  inside.join();
  while (ran != 800)
    this_thread::yield();
  over = true;
  for (thread& t : spinners)
    t.join();
  outside.join();
}

} // namespace
} // namespace weft::test
