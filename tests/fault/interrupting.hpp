// SPDX-License-Identifier: MIT
// EINTR at every nth call of the system that a signal could end.
#pragma once

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <gtest/gtest.h>

#include "tests/fault/fail_each.hpp"
#include "weft/os/fault.hpp"

namespace weft::fault_test {

// While it lives. At the end something must have been interrupted, or the test has shown nothing.
class interrupting {
 public:
  explicit interrupting(std::uint64_t nth) { os::fail_every(os::fault_site::interrupted, nth, EINTR); }
  interrupting(const interrupting&) = delete;
  ~interrupting() {
    os::disarm_faults();
    EXPECT_GT(os::fault_hits(os::fault_site::interrupted), 0U) << "no call was interrupted";
  }
};

// For loads that may be over before any worker has slept: whether to go on, within reason.
inline bool nothing_was_interrupted(int rounds) {
  return rounds < 1000 && os::fault_hits(os::fault_site::interrupted) == 0;
}

// That no unit, stack or timer is left. Kernel threads are the runtime's while it runs: spare ones, and
// io_uring's.
inline void expect_no_more_than(const runtime::census& before) {
  EXPECT_EQ(settled_at(before.units, [] { return runtime::count().units; }), before.units);
  EXPECT_EQ(settled_at(before.stacks, [] { return runtime::count().stacks; }), before.stacks);
  EXPECT_EQ(runtime::count().timers, 0U);
}

// A wait for nothing: it says so, and not before its time.
template <class Wait>
void expect_timeout(std::chrono::nanoseconds length, Wait wait) {
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_FALSE(wait());
  EXPECT_GE(std::chrono::steady_clock::now() - begin, length);
}

} // namespace weft::fault_test
