// SPDX-License-Identifier: MIT
// What a simulation refuses, and what it says when nobody can go on.
#include "tests/simulation/simulate.hpp"

#include <memory>
#include <string>
#include <system_error>
#include <thread>

namespace {

using namespace std::chrono_literals;
using weft::test::simulate;

template <class F>
std::error_code error_of(F f) {
  try {
    f();
  } catch (const std::system_error& e) {
    return e.code();
  }
  return {};
}

TEST(simulation_faults, other_kernel_threads_are_refused) {
  simulate(1, 2, [] {
    std::thread([] {
      EXPECT_EQ(error_of([] { weft::thread([] {}).join(); }), std::errc::not_supported);
      EXPECT_EQ(error_of([] { weft::binary_semaphore(0).acquire(); }), std::errc::not_supported);
      EXPECT_EQ(error_of([] { weft::worker_group({}); }), std::errc::not_supported);
    }).join();
  });
}

TEST(simulation_faults, what_else_other_kernel_threads_do_is_told) {
  testing::internal::CaptureStderr();
  simulate(1, 2, [] {
    weft::thread t([] { weft::this_thread::suspend(); });
    while (t.state() != weft::unit::state::blocked && t.state() != weft::unit::state::suspended)
      weft::this_thread::yield();
    std::thread([&t] { t.resume(); }).join();
    weft::this_thread::sleep_for(1s); // an idle worker looks when it gives memory back
    t.join();
  });
  EXPECT_NE(testing::internal::GetCapturedStderr().find("cannot be repeated"), std::string::npos);
}

TEST(simulation_faults, io_is_refused) {
  simulate(1, 2, [] {
    EXPECT_EQ(error_of([] {
                weft::runtime::default_group().waiting_source(
                    [] { return std::unique_ptr<weft::sched::waiting_source>(); });
              }),
              std::errc::not_supported);
  });
}

TEST(simulation_faults, begins_before_workers_and_once) {
  ASSERT_TRUE(weft::runtime::start({.workers = 1}));
  EXPECT_EQ(error_of([] { weft::simulation::scope(1); }), std::errc::operation_not_permitted);
  EXPECT_FALSE(weft::simulation::active());
  ASSERT_TRUE(weft::runtime::stop());
  const weft::simulation::scope simulated(1);
  EXPECT_EQ(error_of([] { weft::simulation::scope(1); }), std::errc::operation_not_permitted);
  EXPECT_TRUE(weft::simulation::active());
}

// Calls that block and preemptible threads are run all the same.
TEST(simulation_faults, blocking_calls_and_preemption_are_as_if_not_asked_for) {
  simulate(1, 2, [] {
    weft::thread_attributes a;
    a.preemption = weft::preemption::signal_yield;
    bool ran = false;
    weft::thread t(a, [&ran] {
      weft::blocking([&ran] { ran = true; });
      weft::this_thread::yield();
    });
    t.join();
    EXPECT_TRUE(ran);
  });
}

TEST(simulation_faults, a_deadlock_is_told_with_its_threads) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto stand_still = [] {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
      simulate(seed, 2, [] {
        weft::mutex one;
        weft::mutex other;
        const auto lock_both = [](weft::mutex& a, weft::mutex& b) {
          const std::scoped_lock first(a);
          weft::this_thread::yield();
          const std::scoped_lock second(b);
        };
        weft::thread t([&] {
          weft::this_thread::set_name("left");
          lock_both(one, other);
        });
        weft::thread u([&] {
          weft::this_thread::set_name("right");
          lock_both(other, one);
        });
        t.join();
        u.join();
      });
    }
  };
  EXPECT_DEATH(stand_still(),
               "WEFT_SIM=[0-9]+: nobody can go on(.|\n)*thread \"(left|right)\"[^\n]*waits for "
               "mutex(.|\n)*stands still");
}

} // namespace
