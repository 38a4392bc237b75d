// SPDX-License-Identifier: MIT
// Where ticks come from, chosen at run time: each source lets threads that never yield share a worker, stops
// when nobody needs it, and follows a worker to another kernel thread.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <fstream>
#include <string>
#include <system_error>
#include <vector>

#include "tests/unit/census_check.hpp"
#include "tests/unit/preempt/fixture.hpp"
#include "weft/os/clock.hpp"
#include "weft/os/fault.hpp"
#include "weft/preemption.hpp"
#include "weft/runtime.hpp"
#include "weft/thread.hpp"

namespace weft::test {
namespace {

using preempt::tick_source;

std::string name_of(tick_source source) {
  constexpr const char* names[] = {"monitor", "creation_time", "aligned", "one_to_all", "chain"};
  return names[static_cast<unsigned>(source)];
}

// The timers of this process, as the kernel lists them: how many, and what their signals are.
std::vector<int> timers_of_process() {
  std::vector<int> signals;
  std::ifstream list("/proc/self/timers");
  for (std::string word; list >> word;) {
    if (word == "signal:") {
      list >> word;
      signals.push_back(std::stoi(word));
    }
  }
  return signals;
}

void sleep_ms(int ms) {
  for (const std::int64_t end = os::now_ns() + ms * 1'000'000LL; os::now_ns() < end;)
    ::usleep(500);
}

class tick_sources : public ::testing::TestWithParam<tick_source> {
 protected:
  void SetUp() override {
    if (!can_preempt(preemption::own_tls))
      GTEST_SKIP() << "not on this machine";
    before_ = preempt::tick_source_in_use();
  }
  void TearDown() override {
    if (IsSkipped())
      return;
    if (running_)
      stop();
    preempt::set_tick_source(before_);
  }
  void start(unsigned workers, std::chrono::microseconds interval) {
    preempt::set_tick_source(GetParam());
    start_ticking(sched::arrangement::pool_per_worker, workers, interval);
    census_.begin();
    running_ = true;
  }
  void stop() {
    running_ = false;
    census_.end();
    EXPECT_TRUE(runtime::stop());
  }
  static thread_attributes attributes(preemption kind = preemption::own_tls) {
    thread_attributes a;
    a.preemption = kind;
    return a;
  }
  // Two threads on each worker that wait for each other and never yield: over only if both get their turns.
  static void take_turns(unsigned workers, int turns, preemption kind) {
    std::vector<std::atomic<int>> turn(workers);
    std::vector<thread> threads;
    for (unsigned w = 0; w < workers; ++w) {
      for (int me = 0; me < 2; ++me) {
        thread_attributes a = attributes(kind);
        a.pool = runtime::default_group().member(w).main_pool.load_acquire();
        threads.emplace_back(a, [&now = turn[w], me, turns] {
          for (int at = me; at < turns; at += 2) {
            while (now.load() != at) {
            }
            now = at + 1;
          }
        });
      }
    }
    for (thread& t : threads)
      t.join();
    for (const std::atomic<int>& now : turn)
      EXPECT_EQ(now, turns);
  }
  bool has_timers() const { return GetParam() != tick_source::monitor; }

 private:
  census_check census_;
  tick_source before_ = tick_source::monitor;
  bool running_ = false;
};

INSTANTIATE_TEST_SUITE_P(each, tick_sources,
                         ::testing::Values(tick_source::monitor, tick_source::creation_time,
                                           tick_source::aligned, tick_source::one_to_all, tick_source::chain),
                         [](const auto& info) { return name_of(info.param); });

TEST_P(tick_sources, two_that_spin_share_a_worker) {
  for (const unsigned workers : {1U, 2U, 3U}) {
    for (const preemption kind : {preemption::own_tls, preemption::signal_yield}) {
      start(workers, std::chrono::microseconds(500));
      take_turns(workers, 20, kind);
      stop();
    }
  }
}

TEST_P(tick_sources, there_are_as_many_timers_as_it_needs_and_none_when_it_is_off) {
  const std::size_t others = timers_of_process().size();
  start(3, std::chrono::microseconds(1000));
  const std::size_t wanted = !has_timers()                              ? 0
                             : GetParam() == tick_source::creation_time ? 3
                             : GetParam() == tick_source::aligned       ? 3
                                                                        : 1;
  {
    thread keeps_it_on(attributes(), [] { this_thread::suspend(); });
    this_thread::yield();
    for (int i = 0; i < 1000 && timers_of_process().size() != others + wanted; ++i)
      ::usleep(1000);
    EXPECT_EQ(timers_of_process().size(), others + wanted);
    keeps_it_on.resume();
    keeps_it_on.join();
  }
  for (int i = 0; i < 1000 && timers_of_process().size() != others; ++i)
    ::usleep(1000);
  EXPECT_EQ(timers_of_process().size(), others);
  // No thread that may be preempted is left: neither signals nor flags. A timer's signal is counted where it
  // is handled, and some may be under way still when the timers have gone, for as long as it takes a kernel
  // thread to get a CPU, or a debugger to pass them on; with a timer left there would be one each
  // millisecond.
  constexpr unsigned workers = 3;
  const preempt::tick_counts gone = preempt::counts();
  bool is_quiet = false;
  for (int looks = 0; looks < 30 && !is_quiet; ++looks) {
    const preempt::tick_counts before = preempt::counts();
    sleep_ms(30);
    const preempt::tick_counts now = preempt::counts();
    is_quiet = now.signals == before.signals && now.flags == before.flags;
  }
  EXPECT_TRUE(is_quiet);
  EXPECT_LE(preempt::counts().signals, gone.signals + workers);
}

TEST_P(tick_sources, the_interval_changes_while_threads_run) {
  start(1, std::chrono::seconds(1));
  // By the time that the process computes: a loaded machine gives it little of the clock's.
  const auto computed_ns = [] {
    timespec t{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec * 1'000'000'000LL + t.tv_nsec;
  };
  const auto preemptions_in = [&computed_ns](int ms) {
    std::atomic<bool> enough{false};
    const auto spin = [&enough] {
      while (!enough) {
      }
    };
    const std::size_t before = preempt::counts().preemptions;
    thread one(attributes(), spin), other(attributes(), spin);
    thread watch(attributes(), [&, end = computed_ns() + ms * 1'000'000LL] {
      while (computed_ns() < end) {
      }
      enough = true;
    });
    watch.join();
    one.join();
    other.join();
    return preempt::counts().preemptions - before;
  };
  preempt::set_interval(std::chrono::microseconds(500));
  EXPECT_GT(preemptions_in(40), 4U); // at 1 s it would be none
  EXPECT_EQ(preempt::interval(), std::chrono::microseconds(500));
}

// Whose kernel thread no timer knows, since it has no worker.
TEST_P(tick_sources, who_computes_after_a_system_call_is_fetched) {
  start(1, std::chrono::microseconds(500));
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe(pipe.data()), 0);
  std::atomic<bool> seen_away{false};
  while (!seen_away) { // a late tick may have fetched it before it looked
    const std::size_t before = preempt::counts().workers_let_go;
    thread reads(attributes(), [&] {
      const sched::user_mode& me = sched::user_mode::behind(sched::here());
      char c;
      EXPECT_EQ(::read(pipe[0], &c, 1), 1);
      seen_away = me.is_away();
      EXPECT_TRUE(comes_back_to_a_worker(me));
    });
    thread writes([&] {
      while (preempt::counts().workers_let_go == before)
        this_thread::yield();
      EXPECT_EQ(::write(pipe[1], "x", 1), 1);
    });
    reads.join();
    writes.join();
  }
  for (const int end : pipe)
    ::close(end);
}

TEST_P(tick_sources, another_one_takes_over_while_threads_run) {
  start(2, std::chrono::microseconds(500));
  for (const tick_source source : {tick_source::aligned, tick_source::monitor, tick_source::chain,
                                   tick_source::one_to_all, tick_source::creation_time, GetParam()}) {
    preempt::set_tick_source(source);
    EXPECT_EQ(preempt::tick_source_in_use(), source);
    take_turns(2, 8, preemption::own_tls);
  }
}

TEST_P(tick_sources, signals_of_others_go_to_their_handler) {
  static std::atomic<int> theirs;
  theirs = 0;
  struct sigaction before = {}, mine = {};
  mine.sa_handler = [](int) { ++theirs; };
  ASSERT_EQ(sigaction(SIGURG, &mine, &before), 0);
  start(1, std::chrono::microseconds(500));
  thread raises(attributes(), [] {
    for (int i = 0; i < 100; ++i) {
      // Standard signals do not queue: one that is raised while a tick is pending is lost, as any other.
      for (const int so_far = theirs; theirs == so_far;)
        raise(SIGURG);
    }
  });
  take_turns(1, 10, preemption::own_tls);
  raises.join();
  EXPECT_EQ(theirs, 100); // and none of ours
  stop();
  struct sigaction now = {};
  ASSERT_EQ(sigaction(SIGURG, &before, &now), 0);
  EXPECT_EQ(now.sa_handler, mine.sa_handler);
}

TEST_P(tick_sources, without_a_timer_it_tries_again) {
  if (!has_timers())
    GTEST_SKIP() << "it has none";
  start(1, std::chrono::microseconds(500));
  os::fail_nth(os::fault_site::timer_create, 1, EAGAIN);
  take_turns(1, 10, preemption::own_tls);
  EXPECT_EQ(os::fault_hits(os::fault_site::timer_create), 1U);
  os::disarm_faults();
}

TEST(tick_source, what_is_none_is_refused) {
  const tick_source before = preempt::tick_source_in_use();
  EXPECT_THROW(preempt::set_tick_source(static_cast<tick_source>(77)), std::system_error);
  EXPECT_EQ(preempt::tick_source_in_use(), before);
}

} // namespace
} // namespace weft::test
