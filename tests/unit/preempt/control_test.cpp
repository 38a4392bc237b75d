// SPDX-License-Identifier: MIT
// What is preempted when: ticks by hand, on one worker, so that nothing depends on time.
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>

#include <atomic>
#include <stdexcept>
#include <system_error>

#include "tests/unit/census_check.hpp"
#include "tests/unit/preempt/fixture.hpp"
#include "weft/arch/user_mode.hpp"
#include "weft/preemption.hpp"
#include "weft/runtime.hpp"
#include "weft/thread.hpp"

namespace weft::test {
namespace {

class preemption_control : public ::testing::TestWithParam<preemption> {
 protected:
  void SetUp() override {
    if (!can_preempt(GetParam()))
      GTEST_SKIP() << "not on this machine";
    start_ticking(sched::arrangement::pool_per_worker, 1, std::chrono::seconds(1)); // the monitor keeps still
    census_.begin();
  }
  void TearDown() override {
    if (IsSkipped())
      return;
    census_.end();
    EXPECT_TRUE(runtime::stop());
  }
  static thread_attributes attributes() {
    thread_attributes a;
    a.preemption = GetParam();
    return a;
  }
  // Calls f() on a preemptible thread, with another one ready that adds one to `others`.
  template <class F>
  void beside_another(F f) {
    thread one(attributes(), f);
    thread other([this] { ++others; });
    one.join();
    other.join();
  }

  std::atomic<int> others{0};

 private:
  census_check census_;
};

INSTANTIATE_TEST_SUITE_P(each, preemption_control,
                         ::testing::Values(preemption::signal_yield, preemption::own_tls),
                         [](const auto& info) {
                           return info.param == preemption::own_tls ? "own_tls" : "signal_yield";
                         });

TEST_P(preemption_control, a_tick_makes_it_leave) {
  beside_another([this] {
    EXPECT_EQ(others, 0);
    preempt::tick_self();
    EXPECT_EQ(others, 1);
  });
}

TEST_P(preemption_control, a_tick_is_remembered_where_it_must_not) {
  beside_another([this] {
    {
      const no_preemption here;
      preempt::tick_self();
      EXPECT_EQ(others, 0);
      {
        const no_preemption nested;
      }
      EXPECT_EQ(others, 0);
    }
    EXPECT_EQ(others, 1);
  });
}

TEST_P(preemption_control, ticks_do_nothing_to_cooperative_threads_and_tasklets) {
  thread keeps_monitor(attributes(), [] { this_thread::suspend(); });
  this_thread::yield();
  thread other([this] { ++others; });
  preempt::tick_self();
  EXPECT_EQ(others, 0);
  tasklet light([this] {
    preempt::tick_self();
    EXPECT_EQ(others, 0);
  });
  light.join();
  other.join();
  keeps_monitor.resume();
  keeps_monitor.join();
}

TEST_P(preemption_control, sched_yield_lets_others_run) {
  beside_another([this] {
    EXPECT_EQ(sched_yield(), 0);
    EXPECT_EQ(others, 1);
  });
  thread cooperative([this] {
    thread other([this] { ++others; });
    EXPECT_EQ(sched_yield(), 0); // the kernel's
    EXPECT_EQ(others, 1);
    other.join();
  });
  cooperative.join();
  EXPECT_EQ(others, 2);
}

TEST_P(preemption_control, exit_and_exceptions_leave_user_mode) {
  bool unwound = false;
  struct marks {
    bool& done;
    ~marks() { done = true; }
  };
  thread leaves(attributes(), [&unwound] {
    const marks at_end{unwound};
    preempt::tick_self();
    this_thread::exit();
  });
  leaves.join();
  EXPECT_TRUE(unwound);
  thread catches(attributes(), [] {
    try {
      throw std::runtime_error("x");
    } catch (const std::runtime_error&) {
      preempt::tick_self();
      this_thread::yield();
      EXPECT_THROW(throw, std::runtime_error);
    }
  });
  catches.join();
}

TEST_P(preemption_control, cancelled_before_it_starts_and_while_it_is_preempted) {
  thread never(attributes(), [] { FAIL(); });
  never.cancel();
  never.join();
  bool went_on = false;
  thread later(attributes(), [&went_on] {
    preempt::tick_self();
    went_on = true; // a preemption is no scheduling point of its own
    this_thread::yield();
    FAIL();
  });
  this_thread::yield();
  later.cancel();
  later.join();
  EXPECT_TRUE(went_on);
}

TEST_P(preemption_control, others_signals_of_that_number_go_to_their_handler) {
  static std::atomic<int> theirs;
  theirs = 0;
  EXPECT_TRUE(runtime::stop());
  struct sigaction before = {}, mine = {};
  mine.sa_handler = [](int) { ++theirs; };
  ASSERT_EQ(sigaction(SIGURG, &mine, &before), 0);
  start_ticking(sched::arrangement::pool_per_worker, 1, std::chrono::seconds(1)); // the monitor keeps still
  beside_another([this] {
    raise(SIGURG);
    EXPECT_EQ(others, 0);
    preempt::tick_self();
    EXPECT_EQ(others, 1);
  });
  EXPECT_EQ(theirs, 1);
  EXPECT_TRUE(runtime::stop());
  struct sigaction now = {};
  ASSERT_EQ(sigaction(SIGURG, &before, &now), 0);
  EXPECT_EQ(now.sa_handler, mine.sa_handler);                                     // given back
  start_ticking(sched::arrangement::pool_per_worker, 1, std::chrono::seconds(1)); // the monitor keeps still
}

TEST_P(preemption_control, what_is_no_kind_is_refused) {
  thread_attributes a;
  a.preemption = static_cast<preemption>(77);
  EXPECT_THROW(thread(a, [] {}), std::system_error);
  EXPECT_THROW(tasklet(attributes(), [] {}), std::system_error);
  EXPECT_THROW(preempt::set_interval(std::chrono::microseconds(1)), std::system_error);
}

} // namespace
} // namespace weft::test
