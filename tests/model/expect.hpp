// SPDX-License-Identifier: MIT
// What the model tests expect of the checker: all executions within bounds pass, or one fails for the given
// reason. Each says how many executions there were.
//
// WEFT_MODEL_DEPTH=n looks deeper: n preemptions and n stale reads more than a test asks for (depth first,
// the first million executions), then n times 20,000 random executions. Their seed is WEFT_STRESS_SEED or
// drawn, and printed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <gtest/gtest.h>
#include <random>
#include <string>

#include "tests/model/checker/model.hpp"

namespace weft::model {

inline unsigned depth() {
  const char* const asked = std::getenv("WEFT_MODEL_DEPTH");
  return asked == nullptr ? 0 : static_cast<unsigned>(std::strtoul(asked, nullptr, 10));
}

inline options exactly(unsigned preemptions, unsigned stale_reads) {
  options how;
  how.merge = true;
  how.preemptions = preemptions;
  how.stale_reads = stale_reads;
  return how;
}

/// Of a body that has state where merging does not look (README.md, "Merging").
inline options one_by_one(options how) {
  how.merge = false;
  return how;
}

/// Of a test that passes: more where depth is asked for.
inline options bounds(unsigned preemptions, unsigned stale_reads) {
  options how = exactly(preemptions + depth(), stale_reads + depth());
  if (depth() > 0) {
    how.max_executions = 1'000'000;
  }
  return how;
}

/// All executions there are: no bound on preemptions, on stale reads, or on stores that go back.
inline options exhaustively() {
  options how = exactly(unlimited, unlimited);
  how.max_executions = 100'000'000;
  return how;
}

/// "suite.test" of the test that runs.
inline std::string name_of_test() {
  const testing::TestInfo* const test = testing::UnitTest::GetInstance()->current_test_info();
  return test == nullptr ? "" : std::string(test->test_suite_name()) + "." + test->name();
}

inline void report(const options& how, const result& outcome) {
  const char* const extent = outcome.failed              ? "the last one failed"
                             : outcome.complete          ? "all there are"
                             : how.random_executions > 0 ? "at random"
                                                         : "not all";
  const auto executions = static_cast<unsigned long long>(outcome.executions);
  const auto states = static_cast<unsigned long long>(outcome.states);
  std::printf("explored %s: %llu executions, %s; ", name_of_test().c_str(), executions, extent);
  if (how.merge)
    std::printf("%llu states; ", states);
  if (how.merge && how.preemptions == unlimited && how.stale_reads == unlimited)
    std::printf("no bounds\n");
  else
    std::printf("preemptions <= %u, stale reads <= %u\n", how.preemptions, how.stale_reads);
  std::fflush(stdout);
  testing::Test::RecordProperty("executions", std::to_string(outcome.executions));
}

/// Random executions, with many preemptions and stale reads; the same ones each time unless asked for depth.
inline void expect_walks_pass(options how, std::uint64_t executions, const std::function<void()>& body) {
  const char* const given = std::getenv("WEFT_STRESS_SEED");
  how.seed = given != nullptr ? std::strtoull(given, nullptr, 10) : depth() > 0 ? std::random_device{}() : 1;
  how.random_executions = executions;
  how.preemptions = std::max(how.preemptions, 8U);
  how.stale_reads = std::max(how.stale_reads, 8U);
  const result outcome = explore(how, body);
  std::printf("seed %llu: ", static_cast<unsigned long long>(how.seed));
  report(how, outcome);
  EXPECT_FALSE(outcome.failed) << outcome.reason << "; WEFT_STRESS_SEED=" << how.seed;
}

inline void expect_passes(const options& how, const std::function<void()>& body) {
  const result outcome = explore(how, body);
  report(how, outcome);
  EXPECT_FALSE(outcome.failed) << outcome.reason;
  EXPECT_TRUE(outcome.complete || depth() > 0) << outcome.executions << " executions were not all";
  if (depth() > 0 && !outcome.failed && !how.merge) {
    expect_walks_pass(how, std::uint64_t{20'000} * depth(), body);
  }
}

inline void expect_fails(const options& how, const char* reason, const std::function<void()>& body) {
  const result outcome = explore(how, body, true);
  report(how, outcome);
  EXPECT_TRUE(outcome.failed) << outcome.executions << " executions";
  EXPECT_NE(outcome.reason.find(reason), std::string::npos) << outcome.reason;
}

} // namespace weft::model
