// SPDX-License-Identifier: MIT
// A runtime of a given shape, with ticks at a given interval.
#pragma once

#include <gtest/gtest.h>

#include <chrono>

#include "weft/preemption.hpp"
#include "weft/runtime.hpp"

namespace weft::test {

inline const char* name_of(preemption kind) {
  constexpr const char* names[] = {"none", "signal_yield", "own_tls", "own_kernel_thread", "bound_tls"};
  return names[static_cast<unsigned>(kind)];
}

inline void start_ticking(sched::arrangement pools, unsigned workers, std::chrono::microseconds interval) {
  ASSERT_TRUE(runtime::start({.workers = workers, .pools = pools, .bind = false, .make_scheduler = nullptr}));
  preempt::set_interval(interval);
}

} // namespace weft::test
