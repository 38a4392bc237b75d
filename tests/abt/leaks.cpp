// SPDX-License-Identifier: MIT
// After each test: no stack, unit or timer is left, and no kernel thread that was not there before.
#include <chrono>
#include <cstddef>
#include <thread>

#include <gtest/gtest.h>

#include "abt.h"
#include "tests/unit/kernel_thread_count.hpp"
#include "weft/runtime/runtime.hpp"

namespace {

// A kernel thread that was joined may be seen for a moment more.
bool settles_at(std::size_t most) {
  for (int tries = 0; tries < 2000; ++tries) {
    if (weft::test::weft_kernel_threads() <= most)
      return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

class leak_listener : public ::testing::EmptyTestEventListener {
  void OnTestStart(const ::testing::TestInfo&) override { threads_ = weft::test::weft_kernel_threads(); }
  void OnTestEnd(const ::testing::TestInfo&) override {
    EXPECT_EQ(ABT_initialized(), ABT_ERR_UNINITIALIZED) << "the test has left the runtime initialised";
    const weft::runtime::census left = weft::runtime::count();
    EXPECT_EQ(left.units, 0U);
    EXPECT_EQ(left.stacks, 0U);
    EXPECT_EQ(left.timers, 0U);
    EXPECT_TRUE(settles_at(threads_))
        << weft::test::weft_kernel_threads() << " kernel threads, before the test " << threads_;
  }
  std::size_t threads_ = 0;
};

[[maybe_unused]] const bool listening = [] {
  ::testing::UnitTest::GetInstance()->listeners().Append(new leak_listener);
  return true;
}();

} // namespace
