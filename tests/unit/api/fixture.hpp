// SPDX-License-Identifier: MIT
// The default runtime with 1, 2 and 4 workers; what is left is counted at the end.
#pragma once

#include <gtest/gtest.h>

#include "weft/runtime/runtime.hpp"

namespace weft::test {

class runtime_fixture : public ::testing::TestWithParam<unsigned> {
 protected:
  void SetUp() override {
    runtime::options o;
    o.workers = GetParam();
    ASSERT_TRUE(runtime::start(o));
    before_ = runtime::count();
  }
  void TearDown() override {
    const runtime::census after = runtime::count();
    EXPECT_EQ(after.units, before_.units);
    EXPECT_EQ(after.stacks, before_.stacks);
    EXPECT_EQ(after.timers, 0U);
    EXPECT_TRUE(runtime::stop());
    EXPECT_FALSE(runtime::running());
  }

 private:
  runtime::census before_{};
};

} // namespace weft::test

#define WEFT_API_SUITE(name)                                                                                 \
  class name : public ::weft::test::runtime_fixture {};                                                      \
  INSTANTIATE_TEST_SUITE_P(workers, name, ::testing::Values(1U, 2U, 4U))
