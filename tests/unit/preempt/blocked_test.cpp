// SPDX-License-Identifier: MIT
// Preemptible threads in system calls that block: their worker goes on on another kernel thread, and they
// come back to it when the call has returned.
#include <gtest/gtest.h>
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <thread>
#include <vector>

#include "tests/unit/census_check.hpp"
#include "tests/unit/preempt/a_pipe.hpp"
#include "tests/unit/preempt/fixture.hpp"
#include "weft/carrier/user_mode.hpp"
#include "weft/os/clock.hpp"
#include "weft/preempt/spares.hpp"
#include "weft/runtime.hpp"
#include "weft/sched/default_group.hpp"
#include "weft/thread.hpp"
#include "weft/workers/ticker.hpp"

namespace weft::test {
namespace {

class blocked : public ::testing::TestWithParam<std::tuple<preemption, sched::arrangement, unsigned>> {
 protected:
  void SetUp() override {
    const auto [kind, pools, workers] = GetParam();
    if (!can_preempt(kind))
      GTEST_SKIP() << "not on this machine";
    start_ticking(pools, workers, std::chrono::microseconds(500));
    started_ = true;
    this_thread::yield();
    census_.begin();
    before_ = preempt::counts();
  }
  void TearDown() override {
    if (!started_)
      return;
    census_.end();
    EXPECT_EQ(runtime::worker_count(), std::get<2>(GetParam()));
    EXPECT_TRUE(runtime::stop());
    EXPECT_EQ(preempt::spare_count(), 0U);
  }
  static thread_attributes attributes() {
    thread_attributes a;
    a.preemption = std::get<0>(GetParam());
    return a;
  }
  [[nodiscard]] std::size_t let_go() const {
    return preempt::counts().workers_let_go - before_.workers_let_go;
  }
  static unsigned workers() { return std::get<2>(GetParam()); }

 private:
  census_check census_;
  preempt::tick_counts before_;
  bool started_ = false;
};

INSTANTIATE_TEST_SUITE_P(
    each, blocked,
    ::testing::Combine(::testing::Values(preemption::signal_yield, preemption::own_tls,
                                         preemption::own_kernel_thread, preemption::bound_tls),
                       ::testing::Values(sched::arrangement::pool_per_worker, sched::arrangement::stealing),
                       ::testing::Values(1U, 2U)),
    [](const auto& info) {
      return std::string(name_of(std::get<0>(info.param))) +
             (std::get<1>(info.param) == sched::arrangement::stealing ? "_stealing_" : "_private_") +
             std::to_string(std::get<2>(info.param));
    });

// As many readers as workers, and more: nobody could write without the workers' leaving.
TEST_P(blocked, reads_do_not_stop_who_writes) {
  constexpr unsigned readers = 6;
  std::array<a_pipe, readers> pipes;
  std::atomic<unsigned> got{0};
  std::vector<thread> threads;
  for (unsigned i = 0; i < readers; ++i) {
    threads.emplace_back(attributes(), [&, i] {
      EXPECT_EQ(pipes[i].read_one(), static_cast<char>('a' + i));
      ++got;
    });
  }
  threads.emplace_back([&] {
    for (unsigned i = 0; i < readers; ++i)
      pipes[i].write_one(static_cast<char>('a' + i));
  });
  for (thread& t : threads)
    t.join();
  EXPECT_EQ(got, readers);
}

// One blocks on a lock of libc whose owner was preempted, on the same worker.
TEST_P(blocked, a_lock_whose_owner_was_preempted) {
  if (std::get<0>(GetParam()) == preemption::signal_yield)
    GTEST_SKIP() << "its locks know the kernel thread";
  pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
  long inside = 0;
  std::vector<thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back(attributes(), [&] {
      for (int i = 0; i < 10; ++i) {
        pthread_mutex_lock(&m);
        const long seen = inside;
        for (const std::int64_t end = os::now_ns() + 2'000'000; os::now_ns() < end;) {
        }
        inside = seen + 1;
        pthread_mutex_unlock(&m);
      }
    });
  }
  for (thread& t : threads)
    t.join();
  EXPECT_EQ(inside, 40);
}

// After its call it computes: it counts as one of those that share the worker again.
TEST_P(blocked, who_comes_back_waits_for_a_worker) {
  a_pipe p;
  std::atomic<int> done{0};
  std::vector<thread> threads;
  threads.emplace_back(attributes(), [&] {
    p.read_one();
    for (const std::int64_t end = os::now_ns() + 20'000'000; os::now_ns() < end;) {
    }
    thread child([&] { ++done; });
    child.join();
    ++done;
  });
  threads.emplace_back([&] {
    this_thread::yield();
    p.write_one('x');
  });
  threads.emplace_back(attributes(), [&] {
    while (done != 2) {
    }
  });
  for (thread& t : threads)
    t.join();
  EXPECT_EQ(done, 2);
}

// And it does so without calling Weft, or the kernel threads that compute would be more than the workers for
// as long as it computes.
TEST_P(blocked, who_comes_back_and_only_computes_is_fetched) {
  if (workers() != 1)
    GTEST_SKIP() << "the other worker would take what waits";
  constexpr std::size_t readers = 3;
  std::array<a_pipe, readers> pipes;
  std::atomic<int> seen_away{0};
  while (seen_away == 0) { // a late tick may have fetched it before it looked
    const std::size_t before = let_go();
    std::vector<thread> threads;
    for (a_pipe& p : pipes) {
      threads.emplace_back(attributes(), [&p, &seen_away] {
        const sched::user_mode& me = sched::user_mode::behind(sched::here());
        p.read_one();
        seen_away += me.is_away() ? 1 : 0;
        EXPECT_TRUE(comes_back_to_a_worker(me));
      });
    }
    thread writes([&] {
      while (let_go() < before + readers)
        this_thread::yield();
      for (a_pipe& p : pipes)
        p.write_one('x');
    });
    for (thread& t : threads)
      t.join();
    writes.join();
  }
}

// What is ready stands where only a thief takes it: on the worker of main(), which computes.
TEST_P(blocked, lets_go_where_nobody_waits) {
  if (workers() == 1 || std::get<1>(GetParam()) != sched::arrangement::stealing)
    GTEST_SKIP() << "nobody steals";
  constexpr std::int64_t given_up_after = 20'000'000'000;
  const auto compute_until = [](const std::atomic<bool>& told) {
    for (const std::int64_t end = os::now_ns() + given_up_after; !told && os::now_ns() < end;)
      asm volatile("");
  };
  a_pipe p;
  std::atomic<bool> reads{false}, ran{false};
  thread blocks(attributes(), [&] {
    reads = true;
    p.read_one();
  });
  compute_until(reads);
  thread ready([&] { ran = true; });
  compute_until(ran);
  EXPECT_TRUE(ran);
  p.write_one('x');
  blocks.join();
  ready.join();
}

// As one does that was sent while the thread computed, and comes late.
TEST_P(blocked, a_tick_that_nobody_told_of_ends_no_call) {
  constexpr int ticks_to_send = 20;
  a_pipe p;
  std::atomic<bool> polls{false};
  thread waits(attributes(), [&] {
    pollfd wanted{p.reading_end(), POLLIN, 0};
    polls = true;
    EXPECT_EQ(::poll(&wanted, 1, 100'000), 1) << std::strerror(errno);
  });
  std::thread ticks([&] {
    while (!polls)
      std::this_thread::yield();
    for (int k = 0; k < ticks_to_send; ++k) {
      for (unsigned i = 0; i < workers(); ++i)
        sched::ticker_of_process.load()->tick(sched::default_group().member(i));
      os::sleep_ns(1'000'000);
    }
    p.write_one('x');
  });
  waits.join();
  ticks.join();
}

// The monitor knows when it began.
TEST_P(blocked, a_call_with_a_time_limit_goes_on) {
  if (workers() != 1)
    GTEST_SKIP() << "the other worker would take what waits";
  a_pipe p;
  thread polls(attributes(), [&] {
    pollfd wanted{p.reading_end(), POLLIN, 0};
    EXPECT_EQ(::poll(&wanted, 1, 100'000), 1) << std::strerror(errno);
  });
  thread writes([&] {
    while (let_go() == 0)
      this_thread::yield();
    p.write_one('x');
  });
  polls.join();
  writes.join();
}

} // namespace
} // namespace weft::test
