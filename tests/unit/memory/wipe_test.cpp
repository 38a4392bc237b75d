// SPDX-License-Identifier: MIT
#include "weft/memory/wipe.hpp"

#include "tests/unit/memory/on_stack.hpp"
#include "weft/memory/stack_cache.hpp"

#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>
#include <iterator>
#include <string_view>
#include <vector>

namespace weft::memory {
namespace {

constexpr std::string_view secret = "the secret of the thread before";

// Deep in the stack and close to its top.
void leave_secrets() {
  char deep[20'000];
  for (const std::size_t at : {std::size_t{0}, std::size_t{10'000}, sizeof deep - secret.size()}) {
    for (std::size_t i = 0; i < secret.size(); ++i)
      deep[at + i] = secret[i];
  }
  asm volatile("" : : "r"(deep) : "memory"); // where it stands, as a whole
}

bool has_secret(const stack_record& stack) {
  const std::string_view all(reinterpret_cast<const char*>(stack.low), stack.usable());
  return all.find(secret) != std::string_view::npos;
}
bool is_zero(const stack_record& stack) {
  return std::all_of(stack.low, stack.low + stack.usable(), [](std::byte b) { return b == std::byte{0}; });
}

class wiping : public ::testing::TestWithParam<stack_pages> {
 protected:
  void TearDown() override { set_wipe(false); }

  static stack_options options() {
    stack_options result;
    result.default_size = 64 << 10;
    result.pages = GetParam();
    return result;
  }
};

TEST_P(wiping, is_off_unless_asked_for) {
  stack_depot depot{options()};
  stack_cache cache{depot};
  stack_record* stack = cache.allocate();
  ASSERT_NE(stack, nullptr);
  testing::run_on(*stack, leave_secrets);
  cache.free(stack);
  ASSERT_EQ(cache.allocate(), stack);
  EXPECT_TRUE(has_secret(*stack)) << "the other test would see nothing";
  cache.free(stack);
}

TEST_P(wiping, gives_out_zeros) {
  set_wipe(true);
  stack_depot depot{options()};
  stack_cache cache{depot};
  for (const std::size_t size : {std::size_t{0}, std::size_t{128 << 10}}) {
    stack_record* stack = cache.allocate(size);
    ASSERT_NE(stack, nullptr);
    testing::run_on(*stack, leave_secrets);
    EXPECT_TRUE(has_secret(*stack));
    cache.free(stack);
    ASSERT_EQ(cache.allocate(size), stack);
    EXPECT_TRUE(is_zero(*stack));
    cache.free(stack);
  }
}

// Through the depot and another cache, in chains and one by one.
TEST_P(wiping, also_what_another_worker_had) {
  set_wipe(true);
  stack_depot depot{options()};
  std::vector<stack_record*> taken;
  {
    stack_cache first{depot};
    for (int i = 0; i < 300; ++i) {
      taken.push_back(first.allocate());
      ASSERT_NE(taken.back(), nullptr);
      testing::run_on(*taken.back(), leave_secrets);
    }
    for (stack_record* stack : taken)
      first.free(stack);
    taken.clear();
  }
  stack_cache second{depot};
  for (int i = 0; i < 300; ++i) {
    taken.push_back(second.allocate());
    ASSERT_NE(taken.back(), nullptr);
    EXPECT_TRUE(is_zero(*taken.back()));
  }
  for (stack_record* stack : taken)
    second.free(stack);
}

// Caches that are there already begin with it at their next slow path; a thread that ends hands its stack on
// to nobody unwiped from then on.
TEST_P(wiping, hands_no_stack_on) {
  set_wipe(true);
  stack_depot depot{options()};
  stack_cache cache{depot};
  stack_record* stack = cache.allocate();
  EXPECT_FALSE(cache.may_hand_on(*stack));
  cache.free(stack);
}

// Who ends looks for the next thread, and for a stack for it, while still on his own.
TEST_P(wiping, leaves_alone_the_stack_of_who_asks) {
  set_wipe(true);
  stack_depot depot{options()};
  static stack_cache* cache;
  static stack_record* mine;
  static stack_record* others[100];
  stack_cache here{depot};
  cache = &here;
  mine = here.allocate();
  ASSERT_NE(mine, nullptr);
  testing::run_on(*mine, [] {
    cache->free(mine);
    for (stack_record*& other : others) // more than come from the depot at once
      other = cache->allocate();
  });
  for (stack_record* other : others) {
    ASSERT_NE(other, nullptr);
    EXPECT_NE(other, mine);
    here.free(other);
  }
  EXPECT_EQ(here.cached(), std::size(others) + 1);
}

INSTANTIATE_TEST_SUITE_P(pages, wiping, ::testing::Values(stack_pages::normal, stack_pages::transparent));

} // namespace
} // namespace weft::memory
