// SPDX-License-Identifier: MIT
#include "weft/memory/watermark.hpp"

#include "tests/unit/memory/on_stack.hpp"
#include "weft/memory/stack_cache.hpp"

#include <cstring>
#include <gtest/gtest.h>
#include <vector>

namespace weft::memory {
namespace {

class watermarks_on : public ::testing::Test {
 protected:
  void SetUp() override {
    set_watermark(true);
    reset_watermarks();
  }
  void TearDown() override { set_watermark(false); }

  static stack_options options() {
    stack_options result;
    result.default_size = 64 << 10;
    return result;
  }
};

template <std::size_t Bytes>
void use() {
  volatile char frame[Bytes];
  for (std::size_t index = 0; index < Bytes; ++index) {
    frame[index] = 1;
  }
  static_cast<void>(frame[0]);
}

TEST_F(watermarks_on, measure_what_a_thread_used) {
  stack_depot depot{options()};
  stack_cache cache{depot};
  stack_record* stack = cache.allocate();
  const void* key = reinterpret_cast<const void*>(&use<20000>);
  stack->function = key;
  EXPECT_EQ(current_usage(*stack), 0U);
  testing::run_on(*stack, use<20000>);
  EXPECT_GE(current_usage(*stack), 20000U);
  EXPECT_LT(current_usage(*stack), 26000U);
  cache.free(stack);
  EXPECT_GE(watermark(), 20000U);
  EXPECT_EQ(watermark(key), watermark());

  stack_record* again = cache.allocate();
  EXPECT_EQ(again, stack);
  EXPECT_EQ(current_usage(*again), 0U) << "the next user starts clean";
  again->function = reinterpret_cast<const void*>(&use<3000>);
  testing::run_on(*again, use<3000>);
  cache.free(again);
  EXPECT_GE(watermark(again->function), 3000U);
  EXPECT_LT(watermark(again->function), 9000U);
  EXPECT_GE(watermark(), 20000U) << "the maximum stays";

  usage_mark marks[8];
  ASSERT_EQ(watermarks(marks, 8), 2U);
  EXPECT_EQ(marks[0].function, key);
  EXPECT_EQ(marks[0].threads, 1U);
  EXPECT_EQ(depot.count().live, 0U);
}

TEST_F(watermarks_on, hooked_caches_count_and_bound_their_stacks) {
  stack_depot depot{options()};
  stack_cache cache{depot};
  std::vector<stack_record*> stacks;
  for (int index = 0; index < 1000; ++index) {
    stacks.push_back(cache.allocate());
  }
  EXPECT_EQ(depot.count().live, 1000U);
  for (stack_record* each : stacks) {
    cache.free(each);
  }
  EXPECT_LE(cache.cached(), 2U * static_cast<std::size_t>(depot.chain_limit(0)));
  EXPECT_EQ(depot.count().live, 0U);
  cache.trim(0);
  EXPECT_EQ(depot.count().cached, 0U);
}

TEST(watermark, a_cache_notices_when_they_are_switched_on) {
  reset_watermarks();
  stack_options options;
  stack_depot depot{options};
  stack_cache cache{depot};
  stack_record* stack = cache.allocate();
  cache.free(stack);
  EXPECT_EQ(watermark(), 0U) << "off";
  set_watermark(true);
  std::vector<stack_record*> stacks;
  for (int index = 0; index < 3; ++index) {
    stacks.push_back(cache.allocate()); // the second one is a slow path
  }
  stacks.back()->low[0] = std::byte{1};
  const std::size_t all = stacks.back()->usable();
  for (stack_record* each : stacks) {
    cache.free(each);
  }
  EXPECT_GE(watermark(), all);
  EXPECT_EQ(depot.count().live, 0U);
  set_watermark(false);
}

} // namespace
} // namespace weft::memory
