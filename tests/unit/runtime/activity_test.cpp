// SPDX-License-Identifier: MIT
// Workers that sleep because fewer are wanted, in every arrangement: nothing is lost, nobody runs what he
// should not, and they come back.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <random>
#include <set>
#include <system_error>
#include <thread>
#include <vector>

#include "tests/unit/census_check.hpp"
#include "weft/arch/arch.hpp"
#include "weft/mutex.hpp"
#include "weft/packing.hpp"
#include "weft/preempt/ticks.hpp"
#include "weft/runtime.hpp"
#include "weft/sleep.hpp"
#include "weft/thread.hpp"

namespace weft::test {
namespace {

using namespace std::chrono_literals;

// Far longer than anything takes; only a hang ends there.
template <class Condition>
bool eventually(Condition condition) {
  const auto give_up = std::chrono::steady_clock::now() + 60s;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > give_up)
      return false;
    std::this_thread::sleep_for(100us);
  }
  return true;
}

constexpr const char* arrangement_names[] = {"stealing", "hierarchical", "one_pool",
                                             "private",  "packing",      "custom"};

// A pool of each worker's own, as a user may write it, for one consumer.
std::shared_ptr<sched::scheduler> own_scheduler(unsigned /*number*/) {
  std::shared_ptr<pool> mine = make_pool(order::fifo, access::mpsc);
  return std::make_shared<fifo_scheduler>(std::vector{mine});
}

struct setting {
  arrangement pools;
  unsigned workers;
};

std::vector<setting> settings() {
  std::vector<setting> all;
  for (int a = 0; a < 6; ++a)
    for (const unsigned workers : {1U, 2U, 4U, 8U})
      all.push_back({static_cast<arrangement>(a), workers});
  return all;
}

class activity : public ::testing::TestWithParam<setting> {
 protected:
  void SetUp() override {
    ASSERT_TRUE(runtime::start({.workers = 1}));
    census_.begin();
    group_options o;
    o.workers = GetParam().workers;
    o.pools = GetParam().pools;
    if (o.pools == arrangement::custom)
      o.make_scheduler = &own_scheduler;
    group_ = std::make_unique<worker_group>(std::move(o));
  }
  void TearDown() override {
    group_.reset();
    census_.end();
    EXPECT_TRUE(runtime::stop());
  }
  worker_group& group() { return *group_; }
  unsigned workers() { return group_->size(); }
  template <class F>
  thread start(F f, preemption kind = preemption::none) {
    thread_attributes a;
    a.pool = &group_->next_pool();
    a.preemption = kind;
    return thread(a, std::move(f));
  }
  // All threads that are made from now on belong to the k-th worker.
  template <class F>
  thread start_at(unsigned k, F f, preemption kind = preemption::none) {
    thread_attributes a;
    a.pool = group_->member(k).main_pool.load_acquire();
    a.preemption = kind;
    return thread(a, std::move(f));
  }
  // `n` are active, and the others do sleep by now.
  void leave(unsigned n) {
    group_->set_active_workers(n);
    EXPECT_EQ(group_->active_workers(), n);
    EXPECT_TRUE(eventually([&] { return group_->sleeping_workers() == workers() - n; }));
  }
  static unsigned rank_here() { return sched::here().activity.rank; }

 private:
  census_check census_;
  std::unique_ptr<worker_group> group_;
};

INSTANTIATE_TEST_SUITE_P(each, activity, ::testing::ValuesIn(settings()), [](const auto& info) {
  return std::string(arrangement_names[static_cast<int>(info.param.pools)]) + "_" +
         std::to_string(info.param.workers);
});

TEST_P(activity, only_active_workers_run_threads_and_all_threads_run) {
  for (unsigned n = workers(); n >= 1; n = n > 1 ? n / 2 : 0) {
    leave(n);
    std::atomic<unsigned> highest{0};
    std::atomic<int> ran{0};
    std::vector<thread> threads;
    for (unsigned i = 0; i < 4 * workers(); ++i) {
      threads.push_back(start([&] {
        this_thread::yield();
        const unsigned mine = rank_here();
        unsigned seen = highest;
        while (seen < mine && !highest.compare_exchange_weak(seen, mine)) {
        }
        ++ran;
      }));
    }
    for (thread& t : threads)
      t.join();
    EXPECT_EQ(ran, static_cast<int>(4 * workers()));
    EXPECT_LT(highest, n);
  }
}

TEST_P(activity, threads_that_stand_in_pools_or_wait_go_on_elsewhere) {
  std::atomic<unsigned> started{0};
  std::atomic<bool> go_on{false};
  std::atomic<int> wrong{0};
  std::vector<thread> threads;
  for (unsigned i = 0; i < 3 * workers(); ++i) {
    threads.push_back(start_at(i % workers(), [&, i] {
      ++started;
      if (i % 3 == 0)
        this_thread::suspend();
      while (!go_on) {
        if (i % 3 == 1) {
          this_thread::sleep_for(1ms);
        } else {
          this_thread::yield();
        }
      }
      if (rank_here() != 0)
        ++wrong;
    }));
  }
  EXPECT_TRUE(eventually([&] { return started == 3 * workers(); }));
  leave(1);
  go_on = true;
  for (unsigned i = 0; i < threads.size(); i += 3)
    threads[i].resume();
  for (thread& t : threads)
    t.join();
  EXPECT_EQ(wrong, 0);
}

TEST_P(activity, they_come_back) {
  leave(1);
  leave(workers());
  std::atomic<unsigned> met{0};
  std::mutex lock;
  std::set<unsigned> ranks;
  std::vector<thread> threads;
  for (unsigned i = 0; i < workers(); ++i) {
    threads.push_back(start_at(i, [&] {
      {
        const std::scoped_lock held(lock);
        ranks.insert(rank_here());
      }
      ++met;
      while (met < workers())
        std::this_thread::yield(); // keeps its worker
    }));
  }
  for (thread& t : threads)
    t.join();
  EXPECT_EQ(ranks.size(), workers());
}

TEST_P(activity, a_cooperative_thread_keeps_its_worker_until_it_yields) {
  const unsigned last = workers() - 1;
  std::atomic<unsigned> began{0};
  std::atomic<bool> stay{true};
  unsigned before = ~0U, after = ~0U;
  thread t = start_at(last, [&] {
    before = rank_here();
    began = 1;
    while (stay) {
    }
    // Each worker that is about to go to sleep may have looked for work before that, and take it once.
    for (unsigned i = 0; i < workers() && after != 0; ++i) {
      this_thread::yield();
      after = rank_here();
    }
  });
  EXPECT_TRUE(eventually([&] { return began == 1; }));
  group().set_active_workers(1);
  stay = false;
  t.join();
  EXPECT_EQ(after, 0U);
  EXPECT_LE(before, last);
}

TEST_P(activity, preemptible_threads_leave_workers_that_shall_sleep) {
  if (!can_preempt(preemption::own_tls))
    GTEST_SKIP() << "not on this machine";
  std::atomic<unsigned> began{0};
  std::atomic<bool> stay{true};
  std::vector<thread> threads;
  for (unsigned i = 0; i < 2 * workers(); ++i) {
    threads.push_back(start_at(
        i % workers(),
        [&] {
          ++began;
          while (stay.load(std::memory_order_relaxed)) {
          }
        },
        preemption::own_tls));
  }
  EXPECT_TRUE(eventually([&] { return began == 2 * workers(); }));
  leave(1);
  leave(workers());
  leave(1);
  stay = false;
  for (thread& t : threads)
    t.join();
}

TEST_P(activity, what_is_bound_to_a_sleeping_worker_goes_on_there) {
  if (!can_preempt(preemption::signal_yield) || workers() == 1)
    GTEST_SKIP() << "not on this machine, or nothing to test";
  std::atomic<bool> stay{true};
  std::atomic<unsigned> began{0};
  unsigned before = 0, after = 0;
  thread t = start_at(
      workers() - 1,
      [&] {
        before = rank_here();
        began = 1;
        while (stay.load(std::memory_order_relaxed)) {
        }
        after = rank_here();
      },
      preemption::signal_yield);
  EXPECT_TRUE(eventually([&] { return began == 1; }));
  group().set_active_workers(1);
  std::atomic<int> others{0};
  std::vector<thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.push_back(start([&] { ++others; }));
  if (before != 0) {
    EXPECT_TRUE(eventually([&] { return others == 8; }));
  }
  stay = false;
  t.join();
  for (thread& other : threads)
    other.join();
  EXPECT_EQ(before, after);
  EXPECT_TRUE(eventually([&] { return group().sleeping_workers() == workers() - 1; }));
}

TEST_P(activity, under_load) {
  const unsigned long seed = std::random_device{}();
  std::printf("seed %lu\n", seed);
  std::mt19937 random(static_cast<unsigned>(seed));
  const bool preempts = can_preempt(preemption::own_tls);
  std::atomic<bool> stop{false};
  std::atomic<long> rounds{0};
  mutex m;
  long guarded = 0, expected = 0;
  std::vector<thread> roots;
  std::atomic<long> total{0};
  for (unsigned i = 0; i < 6; ++i) {
    const preemption kind = preempts && i % 2 == 1 ? preemption::own_tls : preemption::none;
    roots.push_back(start(
        [&, i] {
          long mine = 0;
          while (!stop) {
            thread child = start([] { this_thread::yield(); });
            {
              const std::scoped_lock held(m);
              ++guarded;
              if (i == 0)
                this_thread::sleep_for(50us);
            }
            ++mine;
            child.join();
            if (i % 3 == 2)
              this_thread::yield();
            ++rounds;
          }
          total += mine;
        },
        kind));
  }
  for (int k = 0; k < 40; ++k) {
    group().set_active_workers(1 + random() % workers());
    if (random() % 4 == 0)
      continue; // at once the next change
    const long seen = rounds;
    EXPECT_TRUE(eventually([&] { return rounds > seen; })) << "seed " << seed;
  }
  stop = true;
  for (thread& t : roots)
    t.join();
  expected = total;
  EXPECT_EQ(guarded, expected);
}

// Each change comes while workers follow the one before: whatever they hold then finds its way.
TEST_P(activity, changes_faster_than_workers_follow) {
  const unsigned long seed = std::random_device{}();
  std::printf("seed %lu\n", seed);
  std::mt19937 random(static_cast<unsigned>(seed));
  for (int round = 0; round < 20; ++round) {
    std::atomic<unsigned> ran{0};
    std::vector<thread> threads;
    for (unsigned i = 0; i < 2 * workers(); ++i) {
      threads.push_back(start_at(i % workers(), [&] {
        this_thread::yield();
        ++ran;
      }));
      for (int k = 0; k < 20; ++k) {
        group().set_active_workers(k % 2 == 0 ? workers() : 1 + random() % workers());
        for (unsigned spins = random() % (1U << random() % 12); spins > 0; --spins)
          arch::relax();
      }
    }
    EXPECT_TRUE(eventually([&] { return ran == 2 * workers(); })) << "seed " << seed;
    group().set_active_workers(workers());
    for (thread& t : threads)
      t.join();
  }
}

TEST_P(activity, a_group_ends_while_some_sleep) {
  std::atomic<int> ran{0};
  std::vector<thread> threads;
  group().set_active_workers(1);
  for (unsigned i = 0; i < workers(); ++i)
    threads.push_back(start_at(i, [&] { ++ran; }));
  for (thread& t : threads)
    t.join();
  group().set_active_workers(workers());
  group().set_active_workers(1); // TearDown: whatever has been reached by then
}

TEST_P(activity, timers_of_a_sleeping_worker_are_served) {
  std::atomic<unsigned> waiting{0};
  std::vector<thread> threads;
  for (unsigned i = 0; i < workers(); ++i) {
    threads.push_back(start_at(i, [&] {
      ++waiting;
      this_thread::sleep_for(20ms);
    }));
  }
  EXPECT_TRUE(eventually([&] { return waiting == workers(); }));
  leave(1);
  for (thread& t : threads)
    t.join();
}

TEST_P(activity, what_cannot_be_is_refused) {
  EXPECT_THROW(group().set_active_workers(0), std::system_error);
  EXPECT_THROW(group().set_active_workers(workers() + 1), std::system_error);
  EXPECT_EQ(group().active_workers(), workers());
}

TEST_P(activity, a_new_worker_wakes_all) {
  leave(1);
  if (GetParam().pools == arrangement::custom)
    group().add_worker(own_scheduler(0));
  else
    group().add_worker();
  EXPECT_EQ(group().active_workers(), workers());
  EXPECT_TRUE(eventually([&] { return group().sleeping_workers() == 0; }));
  leave(1);
  thread t = start_at(workers() - 1, [] { EXPECT_EQ(rank_here(), 0U); });
  t.join();
  const bool may_leave = GetParam().pools <= arrangement::one_pool;
  if (may_leave) {
    group().remove_worker();
    EXPECT_TRUE(eventually([&] { return group().sleeping_workers() == 0; }));
  } else {
    EXPECT_THROW(group().remove_worker(), std::system_error);
  }
}

// The default runtime, whose worker 0 is the thread of main().
TEST(activity_of_the_runtime, main_goes_on_alone) {
  ASSERT_TRUE(runtime::start({.workers = 4}));
  runtime::set_active_workers(1);
  EXPECT_EQ(runtime::active_workers(), 1U);
  std::atomic<int> ran{0};
  std::vector<thread> threads;
  for (int i = 0; i < 16; ++i)
    threads.emplace_back([&] { ++ran; });
  this_thread::sleep_for(1ms);
  for (thread& t : threads)
    t.join();
  EXPECT_EQ(ran, 16);
  EXPECT_EQ(runtime::worker_count(), 4U);
  runtime::set_worker_count(2);
  EXPECT_EQ(runtime::active_workers(), 2U);
  EXPECT_TRUE(runtime::stop());
}

// fork() while some sleep: in the child all workers are fresh, and active.
int in_the_child() {
  ::alarm(60);
  std::atomic<int> ran{0};
  std::vector<thread> threads;
  for (int i = 0; i < 16; ++i) {
    threads.emplace_back([&] {
      this_thread::yield();
      ++ran;
    });
  }
  for (thread& t : threads)
    t.join();
  if (ran != 16 || !eventually([] { return runtime::worker_count() == 4; }))
    return 1;
  runtime::set_active_workers(2);
  const bool sleep = eventually([] { return runtime::default_group().sleeping_workers() == 2; });
  return sleep && runtime::active_workers() == 2 ? 0 : 2;
}

TEST(activity_of_the_runtime, after_fork) {
  for (const arrangement pools :
       {arrangement::stealing, arrangement::one_pool, arrangement::pool_per_worker, arrangement::packing}) {
    ASSERT_TRUE(runtime::start({.workers = 4, .pools = pools}));
    runtime::set_active_workers(1);
    EXPECT_TRUE(eventually([] { return runtime::default_group().sleeping_workers() == 3; }));
    const pid_t child = ::fork();
    if (child == 0)
      ::_exit(in_the_child());
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0)
        << arrangement_names[static_cast<int>(pools)] << ": " << status;
    EXPECT_EQ(runtime::active_workers(), 1U);
    EXPECT_TRUE(runtime::stop());
  }
}

} // namespace
} // namespace weft::test
