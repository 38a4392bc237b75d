// SPDX-License-Identifier: MIT
// Whoever stands in for the kernel is asked by waits, sleeps and the clock of its own kernel thread, and by
// no other; a kernel_mutex lets others run until it is free.
#include "weft/base/virtual_kernel.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <limits>
#include <thread>

#include "weft/base/kernel_mutex.hpp"
#include "weft/os/clock.hpp"
#include "weft/os/futex.hpp"

namespace {

using namespace weft;

class recording_kernel final : public base::virtual_kernel {
 public:
  recording_kernel() { base::host_virtual_kernel(this); }
  ~recording_kernel() { base::host_virtual_kernel(nullptr); }

  int wait(const void* word, std::uint32_t expected, std::int64_t until) noexcept override {
    asked = word;
    value = expected;
    deadline = until;
    return ETIMEDOUT;
  }
  int wake(const void* word, int count) noexcept override {
    asked = word;
    return count;
  }
  void yield() noexcept override {
    ++yields;
    if (held != nullptr)
      held->unlock();
  }
  void sleep(std::int64_t ns) noexcept override { slept += ns; }
  std::int64_t now() noexcept override { return 17; }

  const void* asked = nullptr;
  std::uint32_t value = 0;
  std::int64_t deadline = 0;
  std::int64_t slept = 0;
  int yields = 0;
  base::kernel_mutex* held = nullptr;
};

TEST(virtual_kernel, is_asked_in_place_of_the_kernel) {
  recording_kernel kernel;
  const std::uint32_t word = 3;
  EXPECT_EQ(os::futex_wait(&word, 3), ETIMEDOUT);
  EXPECT_EQ(kernel.asked, &word);
  EXPECT_EQ(kernel.value, 3U);
  EXPECT_EQ(kernel.deadline, std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(os::futex_wait_until(&word, 3, 99), ETIMEDOUT);
  EXPECT_EQ(kernel.deadline, 99);
  EXPECT_EQ(os::futex_wake(&word, 5), 5);
  os::sleep_ns(1'000'000'000'000);
  EXPECT_EQ(kernel.slept, 1'000'000'000'000);
  EXPECT_EQ(os::now_ns(), 17);
}

TEST(virtual_kernel, is_not_asked_by_other_kernel_threads) {
  recording_kernel kernel;
  std::thread([] {
    const std::uint32_t word = 3;
    EXPECT_EQ(os::futex_wait(&word, 4), EAGAIN);
    EXPECT_EQ(os::futex_wake(&word, 5), 0);
    EXPECT_GT(os::now_ns(), 17);
    EXPECT_EQ(base::virtual_kernel_here(), nullptr);
  }).join();
  EXPECT_EQ(kernel.asked, nullptr);
}

TEST(virtual_kernel, a_kernel_mutex_lets_others_run) {
  base::kernel_mutex mutex;
  mutex.lock();
  EXPECT_FALSE(mutex.try_lock());
  recording_kernel kernel;
  kernel.held = &mutex; // freed by the first who gets a turn
  mutex.lock();
  EXPECT_EQ(kernel.yields, 1);
  mutex.unlock();
}

TEST(virtual_kernel, goes) {
  {
    const recording_kernel kernel;
  }
  EXPECT_EQ(base::virtual_kernel_here(), nullptr);
  EXPECT_GT(os::now_ns(), 17);
}

} // namespace
