// SPDX-License-Identifier: MIT
// Signals all the time, with and without SA_RESTART, while workers park and kernel threads wait: every wait
// still ends as it should, and only then.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/time.h>

#include <atomic>
#include <cstdio>
#include <thread>

#include "tests/system/scenario.hpp"
#include "weft/weft.hpp"

namespace {

using namespace std::chrono_literals;
using weft::tests::require;

std::atomic<long> signals_seen{0};

void storm(bool restart) {
  struct sigaction action{};
  action.sa_handler = [](int) { signals_seen.fetch_add(1, std::memory_order_relaxed); };
  action.sa_flags = SA_ONSTACK | (restart ? SA_RESTART : 0);
  require(::sigaction(SIGALRM, &action, nullptr) == 0, "sigaction");
  const itimerval each_millisecond{{0, 1000}, {0, 1000}};
  require(::setitimer(ITIMER_REAL, &each_millisecond, nullptr) == 0, "setitimer");
}

// ITIMER_REAL's signal goes to any one kernel thread; this one sends it to all in turn.
void bother(pthread_t target, const std::atomic<bool>& over) {
  while (!over.load()) {
    ::pthread_kill(target, SIGALRM);
    std::this_thread::sleep_for(500us);
  }
}

int waits_under_signals(bool restart) {
  storm(restart);
  weft::runtime::start({.workers = 3});
  std::atomic<bool> over{false};
  weft::counting_semaphore<> ping(0), pong(0), never(0);
  weft::mutex m;
  weft::condition_variable changed;
  int turn = 0;
  std::thread foreign([&] {
    for (int i = 0; i < 300; ++i) {
      ping.acquire();
      require(!never.try_acquire_for(200us), "nobody released this");
      pong.release();
    }
  });
  std::thread pest([&, target = foreign.native_handle()] { bother(target, over); });
  std::thread main_pest([&, target = ::pthread_self()] { bother(target, over); });
  weft::thread t[4];
  for (auto& one : t) {
    one = weft::thread([&] {
      for (int i = 0; i < 50; ++i) {
        const auto begin = std::chrono::steady_clock::now();
        weft::this_thread::sleep_for(2ms);
        require(std::chrono::steady_clock::now() - begin >= 2ms, "slept long enough");
        std::scoped_lock held(m);
        ++turn;
        changed.notify_all();
      }
    });
  }
  for (int i = 0; i < 300; ++i) {
    ping.release();
    pong.acquire();
  }
  {
    std::unique_lock held(m);
    changed.wait(held, [&] { return turn == 200; });
  }
  for (auto& one : t)
    one.join();
  over.store(true);
  foreign.join();
  pest.join();
  main_pest.join();
  std::printf("%ld signals\n", signals_seen.load());
  require(signals_seen.load() > 100, "the storm was one");
  return 0;
}

WEFT_SCENARIO(signals_with_restart) {
  return waits_under_signals(true);
}
WEFT_SCENARIO(signals_without_restart) {
  return waits_under_signals(false);
}

TEST(signals, interrupt_no_wait) {
  for (const char* name : {"signals_with_restart", "signals_without_restart"}) {
    const auto result = weft::tests::run(name);
    EXPECT_EQ(result.exit_code, 0) << result.describe();
    std::printf("%s", result.output.c_str());
  }
}

// A process that burns time on each of a thousand signals a second would show here; a worker that is
// interrupted in its sleep searches once and sleeps again.
WEFT_SCENARIO(idle_under_signals) {
  weft::runtime::start({.workers = 4});
  weft::thread([] {}).join();
  storm(false);
  timespec used{};
  std::thread([] {
    for (int i = 0; i < 500; ++i)
      std::this_thread::sleep_for(1ms);
  }).join();
  require(::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) == 0, "clock_gettime");
  std::printf("%.3f s of processor time\n",
              static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec));
  return 0;
}
TEST(signals, an_idle_process_survives_them) {
  const auto result = weft::tests::run("idle_under_signals");
  EXPECT_EQ(result.exit_code, 0) << result.describe();
}

} // namespace
