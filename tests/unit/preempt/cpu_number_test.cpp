// SPDX-License-Identifier: MIT
// sched_getcpu() asks an area that the kernel keeps for each kernel thread, which is found by the thread
// pointer: one on the TLS block of another kernel thread must not hear where that one sleeps.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <vector>

#include "tests/unit/preempt/fixture.hpp"
#include "weft/os/clock.hpp"
#include "weft/runtime.hpp"
#include "weft/thread.hpp"

namespace weft::test {
namespace {

unsigned cpu_as_the_kernel_says() {
  unsigned cpu = 0;
  EXPECT_EQ(::syscall(SYS_getcpu, &cpu, nullptr, nullptr), 0);
  return cpu;
}

// The calling kernel thread may run on one CPU alone.
bool is_bound() {
  cpu_set_t may;
  CPU_ZERO(&may);
  EXPECT_EQ(::sched_getaffinity(0, sizeof may, &may), 0);
  return CPU_COUNT(&may) == 1;
}

class cpu_number : public ::testing::TestWithParam<preemption> {};

INSTANTIATE_TEST_SUITE_P(each, cpu_number,
                         ::testing::Values(preemption::signal_yield, preemption::own_tls,
                                           preemption::own_kernel_thread, preemption::bound_tls),
                         [](const auto& info) { return name_of(info.param); });

TEST_P(cpu_number, is_that_of_the_worker) {
  if (!can_preempt(GetParam()))
    GTEST_SKIP() << "not on this machine";
  ASSERT_TRUE(runtime::start({.workers = 2, .pools = sched::arrangement::stealing, .bind = true}));
  preempt::set_interval(std::chrono::microseconds(200));
  const std::size_t before = preempt::counts().preemptions;
  const auto preempted = [before] { return preempt::counts().preemptions != before; };
  constexpr std::int64_t length = 100'000'000;
  const std::int64_t end = os::now_ns() + length;
  std::atomic<long> looks{0};
  thread_attributes a;
  a.preemption = GetParam();
  std::vector<thread> all;
  for (int t = 0; t < 6; ++t) {
    all.emplace_back(a, [&] {
      while (os::now_ns() < end || !preempted()) {
        const no_preemption here;
        const unsigned first = cpu_as_the_kernel_says();
        const bool bound = is_bound();
        const int said = ::sched_getcpu();
        if (!bound && cpu_as_the_kernel_says() != first)
          continue; // the kernel has moved it
        ASSERT_EQ(said, static_cast<int>(first));
        ++looks;
      }
    });
  }
  for (thread& t : all)
    t.join();
  EXPECT_GT(looks, 0);
  EXPECT_TRUE(runtime::stop());
}

} // namespace
} // namespace weft::test
