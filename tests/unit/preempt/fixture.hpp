// SPDX-License-Identifier: MIT
// A runtime of a given shape, with ticks at a given interval.
#pragma once

#include <gtest/gtest.h>

#include <chrono>

#include "weft/preemption.hpp"
#include "weft/runtime.hpp"
#include "weft/thread.hpp"

namespace weft::test {

inline const char* name_of(preemption kind) {
  constexpr const char* names[] = {"none", "signal_yield", "own_tls", "own_kernel_thread", "bound_tls"};
  return names[static_cast<unsigned>(kind)];
}

inline void start_ticking(sched::arrangement pools, unsigned workers, std::chrono::microseconds interval) {
  ASSERT_TRUE(runtime::start({.workers = workers, .pools = pools, .bind = false, .make_scheduler = nullptr}));
  preempt::set_interval(interval);
}

// Of a worker of the default group, which names it once it runs.
inline pool& main_pool_of(unsigned worker) {
  pool* named = nullptr;
  while ((named = runtime::default_group().member(worker).main_pool.load_acquire()) == nullptr)
    this_thread::yield();
  return *named;
}

} // namespace weft::test
