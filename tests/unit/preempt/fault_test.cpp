// SPDX-License-Identifier: MIT
// Kernel threads that preemption needs and does not get: at its first use, where whoever asks is told, and
// later, where those that are to be preempted go on without.
#include <cerrno>
#include <cstring>
#include <gtest/gtest.h>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "tests/unit/census_check.hpp"
#include "tests/unit/preempt/fixture.hpp"
#include "weft/os/clock.hpp"
#include "weft/os/fault.hpp"
#include "weft/preempt/donors.hpp"
#include "weft/preempt/spares.hpp"
#include "weft/runtime.hpp"
#include "weft/thread.hpp"

namespace weft::test {
namespace {

class short_of_kernel_threads : public ::testing::TestWithParam<preemption> {
 protected:
  void SetUp() override {
    if (!can_preempt(GetParam()))
      GTEST_SKIP() << "not on this machine";
  }
  void TearDown() override { os::disarm_faults(); }

  static void start() {
    start_ticking(sched::arrangement::stealing, 2, std::chrono::microseconds(200));
    this_thread::yield();
  }
  static thread computing(std::int64_t length) {
    thread_attributes a;
    a.preemption = GetParam();
    return thread(a, [length] {
      for (const std::int64_t end = os::now_ns() + length; os::now_ns() < end;)
        asm volatile("");
    });
  }
};

INSTANTIATE_TEST_SUITE_P(each, short_of_kernel_threads,
                         ::testing::Values(preemption::signal_yield, preemption::own_tls,
                                           preemption::own_kernel_thread, preemption::bound_tls),
                         [](const auto& info) { return name_of(info.param); });

// The nth that is started cannot be had, for each n: a clear error, nothing left, and the next try succeeds.
TEST_P(short_of_kernel_threads, first_use_says_so) {
  constexpr std::uint64_t most = 100;
  std::uint64_t nth = 1;
  int failures_without_error = 0;
  for (bool hit = true; hit; ++nth) {
    ASSERT_LT(nth, most);
    SCOPED_TRACE(nth);
    start();
    census_check census;
    census.begin();
    std::optional<thread> made;
    bool failed = false;
    os::fail_nth(os::fault_site::thread_create, nth, EAGAIN);
    try {
      made.emplace(computing(0));
    } catch (const std::system_error& e) {
      failed = true;
      EXPECT_EQ(e.code(), std::errc::resource_unavailable_try_again) << e.what();
      EXPECT_EQ(std::strncmp(e.what(), "weft: ", 6), 0) << e.what();
    }
    hit = os::fault_hits(os::fault_site::thread_create) != 0;
    os::disarm_faults();
    // But for the kernel thread that sees to timers: without it they are late, which is said once. And for
    // the spare of a block that is made, which comes while others are started: so it may be the nth twice.
    failures_without_error += hit && !failed;
    EXPECT_LE(failures_without_error, GetParam() == preemption::bound_tls ? 3 : 1);
    if (made)
      made->join();
    EXPECT_NO_THROW(computing(0).join());
    census.end();
    EXPECT_TRUE(runtime::stop());
    EXPECT_EQ(preempt::donor_count(), 0U);
    EXPECT_EQ(preempt::spare_count(), 0U);
  }
  EXPECT_GT(nth, 2U) << "at least the monitor is a kernel thread";
}

// None can be had once they run: whoever would need one keeps its worker until its end. Nobody is lost.
TEST_P(short_of_kernel_threads, those_that_run_go_on) {
  start();
  census_check census;
  census.begin();
  if (GetParam() != preemption::bound_tls) // each of which needs one of its own, and is told
    computing(0).join();
  std::vector<thread> all;
  for (int i = 0; i < 24; ++i)
    all.push_back(computing(10'000'000));
  os::fail_after(os::fault_site::thread_create, 0, EAGAIN);
  for (thread& t : all)
    t.join();
  os::disarm_faults();
  all.clear();
  for (int i = 0; i < 4; ++i)
    all.push_back(computing(2'000'000));
  for (thread& t : all)
    t.join();
  census.end();
  EXPECT_TRUE(runtime::stop());
}

} // namespace
} // namespace weft::test
