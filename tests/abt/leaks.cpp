// SPDX-License-Identifier: MIT
// After each test: no stack, unit or timer is left, and no kernel thread that was not there before.
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "abt.h"
#include "weft/runtime/runtime.hpp"

namespace {

// Those that are workers: a sanitizer may start one of its own, and one sees to timers as long as there is a
// group.
std::size_t kernel_threads() {
  std::size_t count = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::ifstream(task.path() / "comm") >> name;
    count += name.starts_with("weft-") && name != "weft-time" ? 1U : 0U;
  }
  return count;
}

// A kernel thread that was joined may be seen for a moment more.
bool settles_at(std::size_t most) {
  for (int tries = 0; tries < 2000; ++tries) {
    if (kernel_threads() <= most)
      return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

class leak_listener : public ::testing::EmptyTestEventListener {
  void OnTestStart(const ::testing::TestInfo&) override { threads_ = kernel_threads(); }
  void OnTestEnd(const ::testing::TestInfo&) override {
    EXPECT_EQ(ABT_initialized(), ABT_ERR_UNINITIALIZED) << "the test has left the runtime initialised";
    const weft::runtime::census left = weft::runtime::count();
    EXPECT_EQ(left.units, 0U);
    EXPECT_EQ(left.stacks, 0U);
    EXPECT_EQ(left.timers, 0U);
    EXPECT_TRUE(settles_at(threads_)) << kernel_threads() << " kernel threads, before the test " << threads_;
  }
  std::size_t threads_ = 0;
};

[[maybe_unused]] const bool listening = [] {
  ::testing::UnitTest::GetInstance()->listeners().Append(new leak_listener);
  return true;
}();

} // namespace
