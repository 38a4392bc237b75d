// SPDX-License-Identifier: MIT
// Conformance: the world outside. Kernel threads that Weft did not start, event sources, timers.
#include "tests/conformance/cell.hpp"
#include "weft/sleep.hpp"

namespace weft::conformance {
namespace {

WEFT_CONFORMANCE(outside);

TEST_P(outside, foreign_kernel_threads_create_and_join) {
  std::atomic<int> sum{0};
  const int count = scaled(20);
  std::vector<std::thread> foreign;
  for (unsigned f = 0; f < 3; ++f) {
    foreign.emplace_back([&, f] {
      std::vector<thread> threads;
      for (int i = 0; i < count; ++i) {
        threads.emplace_back(in_pool(f + static_cast<unsigned>(i)), [&sum, i] {
          if (i % 2 == 0)
            this_thread::yield();
          ++sum;
        });
      }
      tasklet light(tasklet_in_pool(f), [&sum] { ++sum; });
      for (auto& t : threads)
        t.join();
      light.join();
      EXPECT_EQ(this_thread::get_id(), thread::id());
      this_thread::yield();
      EXPECT_THROW(this_thread::suspend(), std::system_error);
      EXPECT_THROW(this_thread::exit(), std::system_error);
    });
  }
  for (auto& t : foreign)
    t.join();
  EXPECT_EQ(sum, 3 * (count + 1));
}

TEST_P(outside, foreign_kernel_threads_resume_cancel_and_detach) {
  std::atomic<int> ended{0};
  auto held = std::make_shared<int>(0);
  std::thread foreign([&] {
    thread sleeper(in_pool(0), [&ended] {
      this_thread::suspend();
      ++ended;
    });
    thread gone(in_pool(1), [&ended, held] {
      this_thread::yield();
      ++ended;
    });
    thread cancelled(in_pool(0), [held] {
      for (;;)
        this_thread::yield();
    });
    gone.detach();
    sleeper.resume();
    cancelled.cancel();
    cancelled.join();
    sleeper.join();
  });
  foreign.join();
  EXPECT_TRUE(eventually([&] { return ended == 2 && held.use_count() == 1; }));
}

class ticking final : public event_source {
 public:
  explicit ticking(std::chrono::nanoseconds patience) : patience_(patience) {}
  int poll() override {
    if (unit_handle* u = waiting.exchange(nullptr))
      sched::resume(*u);
    return ++polls > 0;
  }
  [[nodiscard]] std::chrono::nanoseconds patience() const override { return patience_; }

  std::atomic<int> polls{0};
  std::atomic<unit_handle*> waiting{nullptr};

 private:
  std::chrono::nanoseconds patience_;
};

TEST_P(outside, event_sources_are_polled_when_idle_and_when_busy) {
  auto source = std::make_shared<ticking>(1ms);
  group().add_event_source(source);
  EXPECT_TRUE(eventually([&] { return source->polls > 2; })); // all sleep
  std::atomic<bool> woken{false};
  inside([&] { // a thread that waits for an event
    source->waiting = sched::here().current;
    this_thread::suspend();
    woken = true;
  });
  EXPECT_TRUE(woken);
  std::atomic<bool> stop{false};
  std::vector<thread> busy;
  for (unsigned i = 0; i < workers(); ++i) {
    busy.emplace_back(in_pool(i), [&] {
      while (!stop)
        this_thread::yield();
    });
  }
  const int seen = source->polls;
  EXPECT_TRUE(eventually([&] { return source->polls > seen; }));
  stop = true;
  for (auto& t : busy)
    t.join();
  group().remove_event_source(*source);
  EXPECT_EQ(source.use_count(), 1);
  EXPECT_THROW(group().add_event_source(nullptr), std::system_error);
}

TEST_P(outside, an_event_source_without_patience_is_polled_on_a_wake) {
  auto source = std::make_shared<ticking>(std::chrono::nanoseconds::max());
  group().add_event_source(source);
  thread t(in_pool(0), [&] {
    source->waiting = sched::here().current;
    this_thread::suspend();
  });
  EXPECT_TRUE(eventually([&] {
    group().wake();
    return t.state() == unit::state::finished;
  }));
  t.join();
  group().remove_event_source(*source);
}

TEST_P(outside, timed_joins) {
  inside([this] {
    thread t(in_pool(workers() - 1), [] { this_thread::suspend(); });
    EXPECT_FALSE(t.try_join_for(200us));
    EXPECT_FALSE(t.try_join_until(std::chrono::steady_clock::now()));
    EXPECT_TRUE(t.joinable());
    std::stop_source stop;
    thread stopper(in_pool(0), [&stop] { stop.request_stop(); });
    EXPECT_FALSE(t.join(stop.get_token()));
    t.resume();
    EXPECT_TRUE(t.try_join_for(never));
    EXPECT_FALSE(t.joinable());
    stopper.join();
  });
  std::thread foreign([this] {
    thread t(in_pool(0), [] { this_thread::suspend(); });
    EXPECT_FALSE(t.try_join_for(200us));
    t.resume();
    EXPECT_TRUE(t.try_join_for(never));
  });
  foreign.join();
}

TEST_P(outside, sleepers_wake_while_others_are_busy_and_while_all_sleep) {
  std::atomic<int> woken{0};
  for (const bool busy : {false, true}) {
    std::atomic<bool> stop{false};
    std::vector<thread> spinners;
    if (busy && GetParam().fair()) {
      for (unsigned i = 0; i < workers(); ++i) {
        spinners.emplace_back(in_pool(i), [&stop] {
          while (!stop)
            this_thread::yield();
        });
      }
    }
    for_each_thread(6, [&woken](int i) {
      const auto before = std::chrono::steady_clock::now();
      EXPECT_TRUE(this_thread::sleep_for(100us * i));
      EXPECT_GE(std::chrono::steady_clock::now() - before, 100us * i);
      ++woken;
    });
    stop = true;
    for (auto& t : spinners)
      t.join();
  }
  EXPECT_EQ(woken, 12);
}

TEST_P(outside, wakes_from_everywhere_are_not_lost) {
  for (int round = 0; round < scaled(10); ++round) {
    thread sleeper(in_pool(static_cast<unsigned>(round)), [] { this_thread::suspend(); });
    std::thread foreign([&sleeper] { sleeper.resume(); });
    foreign.join();
    if (!sleeper.try_join_for(never)) {
      ADD_FAILURE() << "a wake was lost";
      std::abort();
    }
  }
}

} // namespace
} // namespace weft::conformance
