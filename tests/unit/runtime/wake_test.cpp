// SPDX-License-Identifier: MIT
// worker_group::wake().
#include "weft/sched/timekeeper.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
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
  thread_attributes there;
  there.pool = &g.next_pool();
  thread main(there, [&] {
    thread ready([] {});
    before = sleeps_of_timekeeper();
    for (int i = 0; i < 1000; ++i) {
      g.wake();
      const std::int64_t until = os::now_ns() + 20'000; // in which it would have slept again
      while (os::now_ns() < until) {
      }
    }
    after = sleeps_of_timekeeper();
    ready.join();
  });
  main.join();
  EXPECT_GE(before, 0);
  EXPECT_LE(after, before + 50);
}

} // namespace
} // namespace weft
