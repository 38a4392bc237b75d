// SPDX-License-Identifier: MIT
// The default runtime with 1, 2 and 4 workers; what is left is counted at the end.
#pragma once

#include "tests/unit/census_check.hpp"
#include <gtest/gtest.h>

#include "weft/runtime/runtime.hpp"

namespace weft::test {

class runtime_fixture : public ::testing::TestWithParam<unsigned> {
 protected:
  void SetUp() override {
    runtime::options o;
    o.workers = GetParam();
    ASSERT_TRUE(runtime::start(o));
    census_.begin();
  }
  void TearDown() override {
    census_.end();
    EXPECT_TRUE(runtime::stop());
    EXPECT_FALSE(runtime::running());
  }

 private:
  census_check census_;
};

} // namespace weft::test

#define WEFT_API_SUITE(name)                                                                                 \
  class name : public ::weft::test::runtime_fixture {};                                                      \
  INSTANTIATE_TEST_SUITE_P(workers, name, ::testing::Values(1U, 2U, 4U))
