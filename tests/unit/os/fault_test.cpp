// SPDX-License-Identifier: MIT
#include "weft/os/fault.hpp"

#include <cerrno>
#include <gtest/gtest.h>
#include <thread>
#include <vector>

namespace {

using namespace weft::os;

struct fault_injection : testing::Test {
  ~fault_injection() override { disarm_faults(); }
};

TEST_F(fault_injection, unarmed_counts_and_fails_nothing) {
  disarm_faults();
  const std::uint64_t before = fault_calls(fault_site::memory);
  EXPECT_EQ(fault(fault_site::memory), 0);
  EXPECT_EQ(fault_calls(fault_site::memory), before);
}

TEST_F(fault_injection, nth_call_fails_and_no_other) {
  fail_nth(fault_site::memory, 3, ENOMEM);
  const std::vector<int> expected{0, 0, ENOMEM, 0, 0};
  for (const int error : expected) {
    EXPECT_EQ(fault(fault_site::memory), error);
  }
  EXPECT_EQ(fault_calls(fault_site::memory), 5U);
  EXPECT_EQ(fault_hits(fault_site::memory), 1U);
}

TEST_F(fault_injection, every_call_after_n_fails) {
  fail_after(fault_site::timer_create, 2, EAGAIN);
  const std::vector<int> expected{0, 0, EAGAIN, EAGAIN, EAGAIN};
  for (const int error : expected) {
    EXPECT_EQ(fault(fault_site::timer_create), error);
  }
  EXPECT_EQ(fault_hits(fault_site::timer_create), 3U);
}

TEST_F(fault_injection, each_nth_call_fails) {
  fail_every(fault_site::memory, 3, ENOMEM);
  const std::vector<int> expected{0, 0, ENOMEM, 0, 0, ENOMEM, 0};
  for (const int error : expected) {
    EXPECT_EQ(fault(fault_site::memory), error);
  }
  EXPECT_EQ(fault_hits(fault_site::memory), 2U);
  fail_after(fault_site::memory, 0, ENOMEM);
  EXPECT_EQ(fault(fault_site::memory), ENOMEM) << "armed anew, it is every one again";
  EXPECT_EQ(fault(fault_site::memory), ENOMEM);
}

TEST_F(fault_injection, sites_are_independent) {
  fail_after(fault_site::mmap, 0, ENOMEM);
  EXPECT_EQ(fault(fault_site::madvise), 0);
  EXPECT_EQ(fault(fault_site::mmap), ENOMEM);
}

TEST_F(fault_injection, counting_alone_fails_nothing) {
  count_calls(fault_site::thread_create);
  for (int call = 0; call < 10; ++call) {
    EXPECT_EQ(fault(fault_site::thread_create), 0);
  }
  EXPECT_EQ(fault_calls(fault_site::thread_create), 10U);
}

TEST_F(fault_injection, exactly_one_of_many_kernel_threads_is_hit) {
  fail_nth(fault_site::memory, 2000, ENOMEM);
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([] {
      for (int call = 0; call < 1000; ++call) {
        fault(fault_site::memory);
      }
    });
  }
  for (std::thread& caller : callers) {
    caller.join();
  }
  EXPECT_EQ(fault_calls(fault_site::memory), 4000U);
  EXPECT_EQ(fault_hits(fault_site::memory), 1U);
}

} // namespace
