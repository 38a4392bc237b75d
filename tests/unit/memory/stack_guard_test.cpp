// SPDX-License-Identifier: MIT
#include "weft/memory/guard.hpp"

#include "tests/unit/memory/on_stack.hpp"
#include "weft/memory/overflow.hpp"
#include "weft/memory/stack_cache.hpp"
#include "weft/memory/stack_slab.hpp"
#include "weft/memory/statistics.hpp"
#include "weft/os/mapping.hpp"

#include <csignal>
#include <cstdio>
#include <cstring>
#include <gtest/gtest.h>
#include <vector>

namespace weft::memory {
namespace {

stack_options guarded_by(guard_mode mode) {
  stack_options options;
  options.default_size = 16 << 10;
  options.guard = mode;
  return options;
}

void touch_below(guard_mode mode) {
  std::signal(SIGSEGV, SIG_DFL);
  stack_depot depot{guarded_by(mode)};
  stack_cache cache{depot};
  stack_record* lowest = cache.allocate(); // below it the mapping ends, whatever the mode
  stack_record* stack = cache.allocate();
  stack->low[0] = std::byte{1};
  *reinterpret_cast<volatile std::byte*>(stack->low - 1) = std::byte{1};
  std::fprintf(stderr, "not stopped\n");
  cache.free(stack);
  cache.free(lowest);
  std::exit(0);
}

TEST(stack_guard, madvise_stops_the_first_byte_below) {
  if (!os::guards_supported()) {
    GTEST_SKIP() << "no MADV_GUARD_INSTALL here";
  }
  EXPECT_EXIT(touch_below(guard_mode::madvise), ::testing::KilledBySignal(SIGSEGV), "");
}

TEST(stack_guard, mprotect_stops_the_first_byte_below) {
  EXPECT_EXIT(touch_below(guard_mode::mprotect), ::testing::KilledBySignal(SIGSEGV), "");
}

TEST(stack_guard, a_canary_is_found_at_free) {
  EXPECT_EXIT(touch_below(guard_mode::canary), ::testing::KilledBySignal(SIGABRT),
              "not stopped\n.*stack overflow.*canary.*16384 bytes.*WEFT_STACK_SIZE");
}

TEST(stack_guard, none_means_none) {
  EXPECT_EXIT(touch_below(guard_mode::none), ::testing::ExitedWithCode(0), "not stopped");
}

TEST(stack_guard, check_canary_sees_the_words_below) {
  stack_depot depot{guarded_by(guard_mode::canary)};
  stack_cache cache{depot};
  stack_record* stack = cache.allocate();
  EXPECT_TRUE(check_canary(*stack));
  std::memset(stack->low, 0xff, stack->usable());
  EXPECT_TRUE(check_canary(*stack)) << "the whole stack may be used";
  auto* below = reinterpret_cast<volatile std::uint64_t*>(stack->low) - 1;
  *below = 1;
  EXPECT_FALSE(check_canary(*stack));
  *below = 0;
  cache.free(stack);
  EXPECT_EQ(depot.count().live, 0U);
}

TEST(stack_guard, mprotect_gives_way_to_canaries_at_half_of_the_mappings) {
  EXPECT_EXIT(
      {
        set_mapping_limit_for_tests(400); // 100 guards
        stack_depot depot{guarded_by(guard_mode::mprotect)};
        std::size_t canaries = 0;
        {
          stack_cache cache{depot};
          std::vector<stack_record*> stacks;
          for (int index = 0; index < 300; ++index) {
            stacks.push_back(cache.allocate());
            canaries += (stacks.back()->flags & stack_has_canary) != 0 ? 1 : 0;
          }
          for (stack_record* each : stacks) {
            cache.free(each);
          }
          cache.trim(0);
        }
        std::fprintf(stderr, "%zu canaries, %zu guards left\n", canaries, protected_guard_count());
        std::exit(depot.count().live == 0 ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "half of vm.max_map_count(.|\n)*200 canaries, (0|100) guards left");
}

TEST(stack_guard, a_hundred_thousand_live_stacks_cost_few_mappings) {
  stack_depot depot{guarded_by(guard_mode::automatic)};
  if (depot.guard() != guard_mode::madvise) {
    GTEST_SKIP() << "needs MADV_GUARD_INSTALL";
  }
  stack_cache cache{depot};
  constexpr std::size_t count = 100'000;
  const process_memory before = read_process_memory(true);
  std::vector<stack_record*> stacks(count);
  for (stack_record*& each : stacks) {
    each = cache.allocate();
    ASSERT_NE(each, nullptr);
  }
  const process_memory full = read_process_memory(true);
  const auto held = depot.count();
  EXPECT_EQ(held.live, count);
  std::printf("a stack: %.1f bytes resident, %.1f of page tables; %zu mappings more, %zu slabs\n",
              static_cast<double>(full.resident - before.resident) / count,
              static_cast<double>(full.page_tables - before.page_tables) / count,
              full.mappings - before.mappings, held.slabs);
  EXPECT_LT(full.mappings - before.mappings, os::max_map_count() / 10 / 2) << "a million must fit";
  for (stack_record* each : stacks) {
    cache.free(each);
  }
  cache.trim(0);
  const process_memory after = read_process_memory();
  EXPECT_EQ(depot.count().live, 0U);
  EXPECT_LE(depot.count().slabs, 1U);
  EXPECT_LT(after.resident, full.resident / 4) << "the burst's memory went back";
  EXPECT_LT(after.page_tables, full.page_tables / 4);
}

TEST(stack_guard, the_top_of_a_partly_used_slab_goes_back_too) {
  stack_depot depot{guarded_by(guard_mode::automatic)};
  stack_cache cache{depot};
  std::vector<stack_record*> stacks;
  for (int index = 0; index < 2000; ++index) {
    stacks.push_back(cache.allocate());
    std::memset(stacks.back()->low, 1, stacks.back()->usable());
  }
  const std::size_t full = read_process_memory().resident;
  std::vector<stack_record*> survivors;
  for (std::size_t index = 0; index < stacks.size(); ++index) {
    if (index % 50 == 0) {
      survivors.push_back(stacks[index]);
    } else {
      cache.free(stacks[index]);
    }
  }
  cache.trim(0);
  const std::size_t after = read_process_memory().resident;
  EXPECT_LT(after + 1900 * (std::size_t{16} << 10), full) << "no slab was wholly free";
  for (stack_record* each : survivors) {
    ASSERT_EQ(each->low[0], std::byte{1});
    ASSERT_EQ(each->low[each->usable() - 1], std::byte{1});
    cache.free(each);
  }
  EXPECT_EQ(depot.count().live, 0U);
}

TEST(stack_pages, huge_pages_or_a_word_and_transparent_ones) {
  EXPECT_EXIT(
      {
        stack_options options = guarded_by(guard_mode::automatic);
        options.pages = stack_pages::huge;
        stack_depot depot{options};
        std::fprintf(stderr, "start\n");
        {
          stack_cache cache{depot};
          for (int round = 0; round < 3; ++round) {
            std::vector<stack_record*> stacks;
            for (int index = 0; index < 200; ++index) {
              stacks.push_back(cache.allocate());
              std::memset(stacks.back()->low, 1, stacks.back()->usable());
            }
            for (stack_record* each : stacks) {
              cache.free(each);
            }
            cache.trim(0);
          }
        }
        const bool good = depot.guard() == guard_mode::canary && depot.count().live == 0;
        std::exit(good ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "start(\n$|.*transparent)");
}

TEST(stack_pages, transparent_means_canaries) {
  stack_options options = guarded_by(guard_mode::automatic);
  options.pages = stack_pages::transparent;
  stack_depot depot{options};
  EXPECT_EQ(depot.guard(), guard_mode::canary) << "a guard would keep the huge page away";
}

} // namespace
} // namespace weft::memory
