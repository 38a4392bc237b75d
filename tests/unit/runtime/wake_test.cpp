// SPDX-License-Identifier: MIT
// worker_group::wake(), and who wakes for event sources.
#include "weft/sched/timekeeper.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>
#include <utility>

#include "weft/os/clock.hpp"
#include "weft/pool.hpp"
#include "weft/thread.hpp"

namespace weft {
namespace {

// The timekeeper knows of timers only. Woken each time that a thread beside ready ones has begun to wait for
// an event source, it took ten times what a message costs.
TEST(wake, leaves_the_timekeeper_alone) {
  sched::timekeeper::start();
  group_options one;
  one.workers = 1;
  worker_group g(std::move(one));
  std::uint32_t times = 0;
  thread_attributes there;
  there.pool = &g.next_pool();
  thread main(there, [&] {
    thread ready([] {});
    const std::uint32_t before = sched::timekeeper::times_woken();
    for (int i = 0; i < 1000; ++i)
      g.wake();
    times = sched::timekeeper::times_woken() - before;
    ready.join();
  });
  main.join();
  EXPECT_EQ(times, 0U);
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
