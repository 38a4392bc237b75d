// SPDX-License-Identifier: MIT
// worker_group::wake(), and who wakes for event sources.
#include "weft/sched/timekeeper.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "weft/os/clock.hpp"
#include "weft/pool.hpp"
#include "weft/thread.hpp"

namespace weft {
namespace {

// How often the timekeeper's kernel thread has gone to sleep; -1: there is none.
long sleeps_of_timekeeper() {
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name, line;
    std::ifstream(task.path() / "comm") >> name;
    if (name != "weft-time")
      continue;
    std::ifstream status(task.path() / "status");
    while (std::getline(status, line)) {
      long n = 0;
      if (std::sscanf(line.c_str(), "voluntary_ctxt_switches: %ld", &n) == 1)
        return n;
    }
  }
  return -1;
}

// The timekeeper knows of timers only. Woken each time that a thread beside ready ones has begun to wait for
// an event source, it took ten times what a message costs.
TEST(wake, leaves_the_timekeeper_alone) {
  sched::timekeeper::start();
  group_options one;
  one.workers = 1;
  worker_group g(std::move(one));
  long before = -1, after = -1;
  std::int64_t took = 0;
  thread_attributes there;
  there.pool = &g.next_pool();
  thread main(there, [&] {
    thread ready([] {});
    before = sleeps_of_timekeeper();
    const std::int64_t begin = os::now_ns();
    for (int i = 0; i < 1000; ++i) {
      g.wake();
      const std::int64_t until = os::now_ns() + 20'000; // in which it would have slept again
      while (os::now_ns() < until) {
      }
    }
    took = os::now_ns() - begin;
    after = sleeps_of_timekeeper();
    ready.join();
  });
  main.join();
  EXPECT_GE(before, 0);
  EXPECT_LE(after, before + 50 + took / 1'000'000); // some of its own, where others have the CPUs
}

// Of an idle group, a source is looked at by one worker, once each time. When each sleeper woke for it, and
// searched for 20 us then, these were 16 times as many.
TEST(patience, of_a_source_is_kept_by_one_sleeper) {
  struct patient final : event_source {
    int poll() override {
      ++polls;
      return 0;
    }
    [[nodiscard]] std::chrono::nanoseconds patience() const override { return std::chrono::milliseconds(2); }
    std::atomic<int> polls{0};
  };
  const auto source = std::make_shared<patient>();
  group_options four;
  four.workers = 4;
  worker_group g(std::move(four));
  g.add_event_source(source);
  std::this_thread::sleep_for(std::chrono::milliseconds(50)); // first searches
  const int before = source->polls;
  const std::int64_t begin = os::now_ns();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  const std::int64_t intervals = (os::now_ns() - begin) / 2'000'000;
  const int polls = source->polls - before;
  EXPECT_GE(polls, 1);
  EXPECT_LE(polls, 3 * intervals);
}

} // namespace
} // namespace weft
