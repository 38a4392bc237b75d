// SPDX-License-Identifier: MIT
// What a fixture does about leaks: units and stacks are counted before and after, and no timer may be left.
#pragma once

#include <chrono>

#include <gtest/gtest.h>

#include "weft/runtime/runtime.hpp"
#include "weft/sleep.hpp"

namespace weft::test {

class census_check {
 public:
  // The runtime runs.
  void begin() { before_ = runtime::count(); }
  void end() const {
    runtime::census after = runtime::count();
    // What ended detached (a coroutine goes on in such a thread) gives its memory back a moment later.
    for (int looks = 0; has_more(after) && looks < 2000; ++looks) {
      this_thread::sleep_for(std::chrono::milliseconds(1)); // lets others run
      after = runtime::count();
    }
    EXPECT_EQ(after.units, before_.units);
    EXPECT_EQ(after.stacks, before_.stacks);
    EXPECT_EQ(after.timers, 0U);
  }

  [[nodiscard]] const runtime::census& before() const { return before_; }

 private:
  [[nodiscard]] bool has_more(const runtime::census& now) const {
    return now.units > before_.units || now.stacks > before_.stacks;
  }

  runtime::census before_{};
};

} // namespace weft::test
