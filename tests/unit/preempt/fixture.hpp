// SPDX-License-Identifier: MIT
// A runtime of a given shape, with ticks at a given interval.
#pragma once

#include <gtest/gtest.h>

#include <chrono>

#include "weft/preemption.hpp"
#include "weft/runtime.hpp"

namespace weft::test {

inline void start_ticking(sched::arrangement pools, unsigned workers, std::chrono::microseconds interval) {
  ASSERT_TRUE(runtime::start({.workers = workers, .pools = pools, .bind = false, .make_scheduler = nullptr}));
  preempt::set_interval(interval);
}

} // namespace weft::test
