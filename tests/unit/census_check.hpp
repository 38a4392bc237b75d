// SPDX-License-Identifier: MIT
// What a fixture does about leaks: units and stacks are counted before and after, and no timer may be left.
#pragma once

#include <gtest/gtest.h>

#include "weft/runtime/runtime.hpp"

namespace weft::test {

class census_check {
 public:
  // The runtime runs.
  void begin() { before_ = runtime::count(); }
  void end() const {
    const runtime::census after = runtime::count();
    EXPECT_EQ(after.units, before_.units);
    EXPECT_EQ(after.stacks, before_.stacks);
    EXPECT_EQ(after.timers, 0U);
  }

  [[nodiscard]] const runtime::census& before() const { return before_; }

 private:
  runtime::census before_{};
};

} // namespace weft::test
