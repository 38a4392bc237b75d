// SPDX-License-Identifier: MIT
// Every nth call that a signal could end does end with EINTR; with n = 1 none is ever made. What waits for
// a word of memory looks at it again, so it gets on even then; what must have a call made to get on does
// not, by nature, and is not tried with n = 1 (interrupted_io_test.cpp). Nothing is lost, nothing ends
// early, nothing is left.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <tuple>
#include <unistd.h>
#include <vector>

#include "tests/fault/fail_each.hpp"
#include "tests/fault/interrupting.hpp"
#include "weft/compose.hpp"
#include "weft/compose/kernel_threads.hpp"
#include "weft/trace.hpp"
#include "weft/weft.hpp"
#include "weft/workers/group.hpp"

namespace {

using namespace std::chrono_literals;
using namespace weft::fault_test;

// Every nth call, so many workers.
class interrupted : public ::testing::TestWithParam<std::tuple<std::uint64_t, unsigned>> {
 protected:
  void SetUp() override {
    before_ = kernel_threads();
    weft::runtime::start({.workers = std::get<1>(GetParam())});
    weft::io::limit_spare_threads(0, 1ms);
    weft::thread([] { weft::this_thread::sleep_for(1us); }).join();
    started_ = weft::runtime::count();
  }
  void TearDown() override {
    expect_no_more_than(started_);
    EXPECT_TRUE(weft::runtime::stop());
    // Fewer, if one of the test before was about to end when this one began.
    EXPECT_TRUE(settled_at(true, [this] { return kernel_threads() <= before_; })) << kernel_threads();
    EXPECT_EQ(weft::runtime::count().workers, 0U);
  }
  [[nodiscard]] static std::uint64_t nth() { return std::get<0>(GetParam()); }
  [[nodiscard]] static unsigned workers() { return std::get<1>(GetParam()); }

 private:
  std::size_t before_ = 0;
  weft::runtime::census started_{};
};

INSTANTIATE_TEST_SUITE_P(each, interrupted,
                         ::testing::Combine(::testing::Values(1U, 2U, 3U), ::testing::Values(1U, 3U)),
                         [](const auto& info) {
                           return "call_" + std::to_string(std::get<0>(info.param)) + "_workers_" +
                                  std::to_string(std::get<1>(info.param));
                         });

TEST_P(interrupted, threads_and_locks) {
  const interrupting signals(nth());
  constexpr int threads = 20;
  constexpr int rounds = 50;
  weft::mutex lock;
  weft::condition_variable changed;
  int sum = 0;
  int turn = 0;
  std::vector<weft::thread> all;
  for (int i = 0; i < threads; ++i) {
    all.emplace_back([&, i] {
      for (int round = 0; round < rounds; ++round) {
        std::unique_lock held(lock);
        changed.wait(held, [&] { return turn == i; });
        ++sum;
        turn = (turn + 1) % threads;
        changed.notify_all();
      }
      for (int nap = 0; nap < 5; ++nap)
        weft::this_thread::sleep_for(200us);
    });
  }
  for (weft::thread& t : all)
    t.join();
  EXPECT_EQ(sum, threads * rounds);
  for (int nap = 0; nothing_was_interrupted(nap); ++nap)
    weft::this_thread::sleep_for(1ms);
}

// Shared by threads of ours and by kernel threads.
struct never {
  weft::counting_semaphore<> semaphore{0};
  weft::timed_mutex held;
  weft::condition_variable changed;
  weft::latch open{1};

  void expect_timeouts() {
    expect_timeout(2ms, [this] { return semaphore.try_acquire_for(2ms); });
    expect_timeout(2ms, [this] { return held.try_lock_for(2ms); });
    expect_timeout(2ms, [this] { return open.wait_for(2ms); });
    weft::mutex lock;
    std::unique_lock guard(lock);
    expect_timeout(2ms, [&] { return changed.wait_for(guard, 2ms, [] { return false; }); });
  }
};

TEST_P(interrupted, timed_waits_do_not_end_early) {
  const interrupting signals(nth());
  never waited_for;
  waited_for.held.lock();
  weft::thread ours[3];
  for (weft::thread& t : ours) {
    t = weft::thread([&] {
      for (int round = 0; round < 5; ++round) {
        waited_for.expect_timeouts();
        expect_timeout(1ms, [] { return weft::this_thread::sleep_for(1ms), false; });
      }
    });
  }
  weft::counting_semaphore<> over{0};
  std::thread outside([&] {
    for (int round = 0; round < 5; ++round)
      waited_for.expect_timeouts();
    over.release();
  });
  for (weft::thread& t : ours)
    t.join();
  over.acquire(); // join() alone would block worker 0
  outside.join();
  waited_for.held.unlock();
}

// A kernel thread that is no worker makes threads, waits for them and for what they do.
TEST_P(interrupted, waits_outside) {
  const interrupting signals(nth());
  weft::counting_semaphore<> over{0};
  std::thread outside([&] {
    for (int round = 0; round < 30; ++round) {
      weft::mutex lock;
      weft::condition_variable changed;
      weft::latch both(2);
      weft::counting_semaphore<> told{0};
      int got = 0;
      weft::thread t([&] {
        weft::this_thread::sleep_for(200us);
        {
          const std::scoped_lock held(lock);
          got = 42;
        }
        changed.notify_one();
        both.arrive_and_wait();
        weft::this_thread::sleep_for(200us);
        told.release();
        weft::this_thread::sleep_for(200us);
      });
      std::unique_lock held(lock);
      changed.wait(held, [&] { return got != 0; });
      held.unlock();
      both.arrive_and_wait();
      told.acquire();
      t.join();
      EXPECT_EQ(got, 42);
    }
    over.release();
  });
  over.acquire();
  outside.join();
}

TEST_P(interrupted, calls_that_block) {
  const interrupting signals(nth());
  weft::thread t[4];
  std::atomic<int> sum{0};
  for (weft::thread& one : t) {
    one = weft::thread([&] {
      for (int round = 0; round < 10; ++round)
        sum += weft::blocking([] { return ::usleep(200), 7; });
    });
  }
  for (weft::thread& one : t)
    one.join();
  EXPECT_EQ(sum, 4 * 10 * 7);
}

TEST_P(interrupted, groups_grow_shrink_and_end) {
  const interrupting signals(nth());
  for (int round = 0; round < 5; ++round) {
    std::atomic<int> ran{0};
    const std::shared_ptr<weft::pool> pool = weft::make_pool(weft::order::fifo, weft::access::mpmc);
    weft::group_options o;
    o.workers = 3;
    o.pools = weft::arrangement::custom;
    o.make_scheduler = [pool](unsigned) { return std::make_shared<weft::fifo_scheduler>(std::vector{pool}); };
    const weft::worker_group beside(std::move(o));
    std::vector<weft::thread> all;
    const auto work = [&ran] {
      weft::this_thread::sleep_for(300us);
      ++ran;
    };
    for (int i = 0; i < 20; ++i) {
      all.emplace_back(weft::thread_attributes{.pool = pool.get()}, work);
      all.emplace_back(work);
      if (i == 10)
        weft::runtime::set_worker_count(workers() + 3);
    }
    weft::runtime::set_worker_count(workers());
    for (weft::thread& t : all)
      t.join();
    EXPECT_EQ(ran, 40);
  }
}

// Preempted threads bring the monitor, spare kernel threads and those that lend their storage.
TEST_P(interrupted, preempted_threads) {
  if (!weft::can_preempt(weft::preemption::own_tls))
    GTEST_SKIP() << "nothing is preempted here";
  const interrupting signals(nth());
  for (const auto kind :
       {weft::preemption::own_tls, weft::preemption::own_kernel_thread, weft::preemption::bound_tls}) {
    std::atomic<int> ran{0};
    std::vector<weft::thread> all;
    for (int i = 0; i < 4; ++i) {
      all.emplace_back(weft::thread_attributes{.preemption = kind}, [&ran] {
        const auto end = std::chrono::steady_clock::now() + 20ms;
        while (std::chrono::steady_clock::now() < end) {
        }
        ++ran;
      });
    }
    for (weft::thread& t : all)
      t.join();
    EXPECT_EQ(ran, 4);
  }
}

// What a worker that is not active keeps for its return goes back to the system after a while, not with the
// first signal. (A while: sched::trim_after.)
TEST(interrupted_worker, keeps_its_memory_for_a_while) {
  const interrupting signals(1);
  const auto begin = std::chrono::steady_clock::now();
  const auto since = [begin] { return std::chrono::steady_clock::now() - begin; };
  const weft::runtime::scope use({.workers = 2});
  const auto& idle = weft::runtime::default_group().member(1);
  weft::runtime::set_active_workers(1);
  while (since() < 40ms && idle.caches.trims.load_acquire() == 0) {
  }
  EXPECT_TRUE(idle.caches.trims.load_acquire() == 0 ||
              since() >= std::chrono::nanoseconds(weft::sched::trim_after));
}

// Nor with the first look at an event source that has patience.
TEST(interrupted_worker, keeps_its_memory_while_it_looks_at_sources) {
  struct patient final : weft::event_source {
    int poll() override { return ++looks, 0; }
    [[nodiscard]] std::chrono::nanoseconds patience() const override { return 100us; }
    std::atomic<int> looks{0};
  };
  const auto begin = std::chrono::steady_clock::now();
  const auto since = [begin] { return std::chrono::steady_clock::now() - begin; };
  const weft::runtime::scope use({.workers = 2});
  auto& group = weft::runtime::default_group();
  const auto source = std::make_shared<patient>();
  group.add_event_source(source);
  const auto& idle = group.member(1);
  while ((since() < 40ms || source->looks < 10) && idle.caches.trims.load_acquire() == 0) {
  }
  EXPECT_TRUE(idle.caches.trims.load_acquire() == 0 ||
              since() >= std::chrono::nanoseconds(weft::sched::trim_after));
}

struct kernel_thread_page : weft::compose::default_policies {
  using context = weft::compose::kernel_thread_context;
  using stack_source = weft::compose::kernel_thread_stacks;
  using techniques = weft::compose::technique_set<weft::compose::full_lazy>;
};
struct parking_page : weft::compose::default_policies {};

template <class Page>
void compose_threads(std::uint64_t nth) {
  using rt = weft::compose::runtime<Page>;
  const interrupting signals(nth);
  int sum = 0;
  int rounds = 0;
  rt::run([&] {
    typename rt::mutex lock;
    for (; rounds < 10 || nothing_was_interrupted(rounds); ++rounds) {
      ::usleep(500); // so that the other workers sleep
      typename rt::thread all[10];
      for (auto& t : all) {
        t = typename rt::thread([&] {
          rt::yield();
          const std::scoped_lock held(lock);
          ++sum;
        });
      }
      for (auto& t : all)
        t.join();
    }
  });
  EXPECT_EQ(sum, 10 * rounds);
}

// Every single one would be no progress: a semaphore of libc's is taken by the call alone.
TEST(interrupted_composed, kernel_threads) {
  compose_threads<kernel_thread_page>(2);
  compose_threads<kernel_thread_page>(3);
}
TEST(interrupted_composed, workers_that_park) {
  compose_threads<parking_page>(1);
  compose_threads<parking_page>(2);
}

} // namespace
