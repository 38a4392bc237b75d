// SPDX-License-Identifier: MIT
#include "weft/sched/timekeeper.hpp"

#include <gtest/gtest.h>

#include <cstdint>

#include "weft/os/clock.hpp"

namespace weft::sched {
namespace {

// Its kernel thread may be told to end at any time before it first sleeps, which is within 100 µs or so.
TEST(timekeeper, ends_with_a_group_that_ends_at_once) {
  for (int round = 0; round < 20'000; ++round) {
    timekeeper::enter_group();
    timekeeper::start();
    const std::int64_t until = os::now_ns() + (round % 1000) * 100;
    while (os::now_ns() < until) {
    }
    timekeeper::leave_group(); // joins it
  }
}

} // namespace
} // namespace weft::sched
