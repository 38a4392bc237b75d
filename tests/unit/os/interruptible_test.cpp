// SPDX-License-Identifier: MIT
#include "weft/os/interruptible.hpp"

#include "weft/os/clock.hpp"
#include "weft/os/futex.hpp"

#include <cstdint>
#include <fcntl.h>
#include <gtest/gtest.h>

namespace {

using namespace weft::os;

struct interruptible_call : testing::Test {
  ~interruptible_call() override { disarm_faults(); }
  int calls = 0;
};

TEST_F(interruptible_call, is_not_made_when_interrupted) {
  fail_nth(fault_site::interrupted, 1, EINTR);
  const auto call = [this] { return ++calls; };
  EXPECT_EQ(interruptible(call), -1);
  EXPECT_EQ(errno, EINTR);
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(interruptible(call), 1);
}

TEST_F(interruptible_call, is_made_again_until_no_signal_ends_it) {
  fail_nth(fault_site::interrupted, 2, EINTR);
  EXPECT_EQ(uninterrupted([this] {
              errno = EINTR;
              return ++calls < 4 ? -1 : 7;
            }),
            7);
  EXPECT_EQ(calls, 4);
  EXPECT_EQ(fault_calls(fault_site::interrupted), 5U);
}

TEST_F(interruptible_call, other_errors_are_told) {
  EXPECT_EQ(uninterrupted([this] {
              ++calls;
              errno = EBADF;
              return -1;
            }),
            -1);
  EXPECT_EQ(errno, EBADF);
  EXPECT_EQ(calls, 1);
}

TEST_F(interruptible_call, an_interrupted_close_has_closed) {
  const int descriptor = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  fail_nth(fault_site::interrupted, 1, EINTR);
  EXPECT_EQ(close_descriptor(descriptor), 0);
  EXPECT_EQ(fault_hits(fault_site::interrupted), 1U);
  EXPECT_EQ(::fcntl(descriptor, F_GETFD), -1);
  EXPECT_EQ(close_descriptor(descriptor), EBADF);
}

// Where signals are so many that no wait lasts until its deadline, the deadline passes all the same.
TEST_F(interruptible_call, a_futex_wait_is_over_when_its_time_is) {
  fail_after(fault_site::interrupted, 0, EINTR);
  const std::uint32_t word = 0;
  EXPECT_EQ(futex_wait(&word, 0), EINTR);
  EXPECT_EQ(futex_wait_until(&word, 0, now_ns() + 1'000'000'000), EINTR);
  EXPECT_EQ(futex_wait_until(&word, 0, now_ns() - 1), ETIMEDOUT);
  EXPECT_EQ(futex_wait_until(&word, 0, 0), ETIMEDOUT);
}

} // namespace
