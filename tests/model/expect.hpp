// SPDX-License-Identifier: MIT
// What the model tests expect of the checker: all executions within bounds pass, or one fails for the given
// reason.
#pragma once

#include <functional>
#include <gtest/gtest.h>
#include <string>

#include "tests/model/checker/model.hpp"

namespace weft::model {

inline options bounds(unsigned preemptions, unsigned stale_reads) {
  options how;
  how.preemptions = preemptions;
  how.stale_reads = stale_reads;
  return how;
}

inline void expect_passes(const options& how, const std::function<void()>& body) {
  const result outcome = explore(how, body);
  EXPECT_FALSE(outcome.failed) << outcome.reason;
  EXPECT_TRUE(outcome.complete) << outcome.executions << " executions were not all";
  testing::Test::RecordProperty("executions", static_cast<int>(outcome.executions));
}

inline void expect_fails(const options& how, const char* reason, const std::function<void()>& body) {
  const result outcome = explore(how, body, true);
  EXPECT_TRUE(outcome.failed) << outcome.executions << " executions";
  EXPECT_NE(outcome.reason.find(reason), std::string::npos) << outcome.reason;
}

} // namespace weft::model
