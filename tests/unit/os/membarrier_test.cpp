// SPDX-License-Identifier: MIT
#include "weft/os/membarrier.hpp"

#include "weft/base/fence.hpp"

#include <atomic>
#include <cstdint>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

// Store buffering, as two kernel threads that run free: the light side writes x = i and then reads y, the
// heavy side writes y = j and then reads x. Wrong is a pair (i, j) in which neither saw the other: light[i] <
// j and heavy[j] < i. Both columns ascend, so for each j the first i above heavy[j] decides.
void store_buffering(std::uint32_t light_rounds) {
  std::atomic<std::uint32_t> x{0};
  std::atomic<std::uint32_t> y{0};
  std::atomic<bool> started{false};
  std::vector<std::uint32_t> light(light_rounds + 1);
  std::vector<std::uint32_t> heavy(1);
  std::thread light_side{[&] {
    started.store(true);
    for (std::uint32_t i = 1; i <= light_rounds; ++i) {
      x.store(i, std::memory_order_relaxed);
      weft::base::light_fence();
      light[i] = y.load(std::memory_order_relaxed);
    }
  }};
  while (!started.load()) {
    std::this_thread::yield();
  }
  while (heavy.back() < light_rounds && heavy.size() < light_rounds) {
    y.store(static_cast<std::uint32_t>(heavy.size()), std::memory_order_relaxed);
    weft::base::heavy_fence();
    heavy.push_back(x.load(std::memory_order_relaxed));
  }
  light_side.join();
  for (std::uint32_t j = 1; j < heavy.size(); ++j) {
    if (heavy[j] < light_rounds) {
      ASSERT_GE(light[heavy[j] + 1], j) << "x = " << heavy[j] + 1 << " and y = " << j << " missed each other";
    }
  }
}

// Several runs, because a busy machine may not run both sides at once; all a run of this can prove is a
// failure.
TEST(membarrier, light_and_heavy_fences_exclude_store_buffering) {
  for (int run = 0; run < 8 && !HasFatalFailure(); ++run) {
    store_buffering(3'000'000);
  }
}

TEST(membarrier, works_in_a_child_of_fork_with_and_without_registering) {
  for (const bool again : {false, true}) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      if (again) {
        weft::os::reregister_membarrier();
      }
      weft::base::heavy_fence();
      ::_exit(0);
    }
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
}

} // namespace
