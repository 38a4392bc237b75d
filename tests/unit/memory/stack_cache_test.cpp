// SPDX-License-Identifier: MIT
#include "weft/memory/stack_cache.hpp"

#include "weft/memory/fork.hpp"
#include "weft/memory/stack_cache.hpp"
#include "weft/memory/stack_slab.hpp"
#include "weft/os/fault.hpp"

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <gtest/gtest.h>
#include <random>
#include <set>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace weft::memory {
namespace {

stack_options small_stacks() {
  stack_options options;
  options.default_size = 16 << 10;
  return options;
}

TEST(stack_cache, a_stack_is_usable_from_low_to_its_record) {
  stack_depot depot{small_stacks()};
  stack_cache cache{depot};
  std::set<stack_record*> seen;
  for (int index = 0; index < 300; ++index) {
    stack_record* stack = cache.allocate();
    ASSERT_NE(stack, nullptr);
    EXPECT_TRUE(seen.insert(stack).second);
    EXPECT_EQ(stack->size, std::size_t{16} << 10);
    EXPECT_GE(stack->usable(), stack->size);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(stack->initial_stack_pointer()) % 64, 0U);
    std::memset(stack->low, 0x5a, stack->usable());
  }
  EXPECT_EQ(depot.count().live, 300U);
  for (stack_record* each : seen) {
    EXPECT_EQ(stack_slab::find(reinterpret_cast<std::uintptr_t>(each)), each->slab);
    cache.free(each);
  }
  EXPECT_EQ(depot.count().live, 0U);
}

TEST(stack_cache, the_records_of_neighbours_fall_into_different_cache_sets) {
  stack_depot depot{small_stacks()};
  stack_cache cache{depot};
  std::set<std::uintptr_t> lines;
  std::vector<stack_record*> stacks;
  for (int index = 0; index < 16; ++index) {
    stacks.push_back(cache.allocate());
    lines.insert(reinterpret_cast<std::uintptr_t>(stacks.back()) % 4096 / 64);
  }
  EXPECT_EQ(lines.size(), 16U);
  for (stack_record* each : stacks) {
    cache.free(each);
  }
}

TEST(stack_cache, sizes_are_rounded_up_to_classes) {
  stack_depot depot{small_stacks()};
  stack_cache cache{depot};
  const struct {
    std::size_t asked, got;
  } cases[] = {{0, 16 << 10},
               {1, 4 << 10},
               {4096, 4 << 10},
               {4097, 8 << 10},
               {10000, 12 << 10},
               {16 << 10, 16 << 10},
               {15000, 16 << 10},
               {20000, 24 << 10},
               {100000, 128 << 10},
               {1 << 20, 1 << 20},
               {(1 << 20) + 1, 3 << 19},
               {std::size_t{8} << 20, std::size_t{8} << 20},
               {std::size_t{1} << 30, std::size_t{1} << 30}};
  for (const auto& each : cases) {
    stack_record* stack = cache.allocate(each.asked);
    ASSERT_NE(stack, nullptr) << each.asked;
    EXPECT_EQ(stack->size, each.got);
    EXPECT_GE(stack->usable(), each.asked);
    stack->low[0] = std::byte{1};
    stack->low[stack->usable() - 1] = std::byte{1};
    cache.free(stack);
    EXPECT_EQ(cache.allocate(each.asked), stack) << "freed into its own class";
    cache.free(stack);
  }
  EXPECT_EQ(depot.count().live, 0U);
}

TEST(stack_cache, impossible_sizes_are_errors) {
  stack_depot depot{small_stacks()};
  stack_cache cache{depot};
  for (const std::size_t size : {stack_options::max_size + 1, std::size_t{1} << 63, ~std::size_t{0}}) {
    EXPECT_EQ(cache.allocate(size), nullptr);
    EXPECT_EQ(cache.last_error(), EINVAL);
  }
  EXPECT_EQ(depot.count().slabs, 0U);
}

TEST(stack_cache, the_newest_stack_is_never_handed_to_others) {
  stack_depot depot{small_stacks()};
  stack_cache cache{depot};
  stack_cache other{depot};
  std::vector<stack_record*> stacks;
  for (int index = 0; index < 1000; ++index) {
    stacks.push_back(cache.allocate());
  }
  for (stack_record* each : stacks) {
    cache.free(each);
    // Everything the other cache can get hold of at this moment, except fresh stacks.
    std::vector<stack_record*> taken;
    const std::size_t out = depot.count().cached - cache.cached();
    for (std::size_t index = 0; index < out; ++index) {
      taken.push_back(other.allocate());
      ASSERT_NE(taken.back(), each);
    }
    for (stack_record* back : taken) {
      other.free(back);
    }
  }
  EXPECT_EQ(depot.count().live, 0U);
}

TEST(stack_cache, stacks_freed_elsewhere_come_back_through_the_depot) {
  stack_depot depot{small_stacks()};
  stack_cache mine{depot};
  for (int round = 0; round < 20; ++round) {
    std::vector<stack_record*> stacks(2000);
    for (stack_record*& each : stacks) {
      each = mine.allocate();
      ASSERT_NE(each, nullptr);
    }
    std::thread{[&] {
      stack_cache other{depot};
      for (stack_record* each : stacks) {
        other.free(each);
      }
    }}.join();
  }
  EXPECT_LE(depot.count().slabs, 2000U / 116 + 2) << "twenty rounds use the stacks of the first";
  EXPECT_EQ(depot.count().live, 0U);
}

TEST(stack_cache, a_consumer_that_lives_on_keeps_a_bounded_number) {
  stack_depot depot{small_stacks()};
  stack_cache producer{depot};
  stack_cache consumer{depot};
  for (int index = 0; index < 20000; ++index) {
    consumer.free(producer.allocate());
  }
  EXPECT_LE(consumer.cached(), 2U * 128 + 1);
  const auto held = depot.count();
  EXPECT_EQ(held.live, 0U);
  EXPECT_LE(held.cached, 5U * 128);
}

TEST(stack_cache, trim_sends_stacks_back_and_unmaps) {
  stack_depot depot{small_stacks()};
  stack_cache cache{depot};
  std::vector<stack_record*> stacks;
  for (int index = 0; index < 5000; ++index) {
    stacks.push_back(cache.allocate());
  }
  const std::size_t mapped = depot.count().mapped_bytes;
  stack_record* survivor = stacks.back();
  stacks.pop_back();
  for (stack_record* each : stacks) {
    cache.free(each);
  }
  EXPECT_EQ(depot.count().mapped_bytes, mapped) << "nothing is unmapped before a trim";
  const std::size_t returned = cache.trim(3);
  auto after = depot.count();
  EXPECT_EQ(after.live, 1U);
  EXPECT_EQ(after.cached, 3U);
  EXPECT_EQ(after.mapped_bytes, mapped - returned);
  EXPECT_LE(after.slabs, 5U) << "the survivor's, the three's and one reserve";
  survivor->low[0] = std::byte{1};
  cache.free(survivor);
  cache.trim(0);
  after = depot.count();
  EXPECT_EQ(after.live + after.cached, 0U);
  EXPECT_EQ(after.slabs, 1U) << "one wholly free slab is kept";
  stack_record* again = cache.allocate();
  ASSERT_NE(again, nullptr);
  EXPECT_EQ(*reinterpret_cast<std::uint64_t*>(again->low), 0U) << "its pages were discarded";
  cache.free(again);
}

TEST(stack_cache, every_failing_mmap_leaves_everything_as_it_was) {
  stack_depot depot{small_stacks()};
  stack_cache cache{depot};
  const std::size_t sizes[] = {0, 64 << 10, 1 << 20, std::size_t{1} << 30};
  for (const std::size_t size : sizes) {
    int failures = 0;
    for (std::uint64_t nth = 1; nth < 10; ++nth) {
      const auto before = depot.count();
      os::fail_nth(os::fault_site::mmap, nth, ENOMEM);
      stack_record* stack = cache.allocate(size);
      os::disarm_faults();
      if (stack == nullptr) {
        ++failures;
        EXPECT_EQ(cache.last_error(), ENOMEM);
        EXPECT_EQ(depot.count().mapped_bytes, before.mapped_bytes);
        EXPECT_EQ(depot.count().live, before.live);
        continue;
      }
      cache.free(stack);
      break;
    }
    EXPECT_GE(failures, 1) << size;
  }
  EXPECT_EQ(depot.count().live, 0U);
}

TEST(stack_cache, a_failing_guard_becomes_a_canary) {
  stack_options options = small_stacks();
  options.guard = guard_mode::madvise;
  stack_depot depot{options};
  if (depot.guard() != guard_mode::madvise) {
    GTEST_SKIP() << "no MADV_GUARD_INSTALL here";
  }
  EXPECT_EXIT(
      {
        stack_cache cache{depot};
        stack_record* first = cache.allocate();
        // The slab is there, so the next call is the guard's.
        os::fail_nth(os::fault_site::madvise, 1, ENOMEM);
        stack_record* stack = cache.allocate();
        os::disarm_faults();
        const bool good = (first->flags & stack_has_canary) == 0 && (stack->flags & stack_has_canary) != 0;
        cache.free(stack);
        cache.free(first);
        std::exit(good && depot.count().live == 0 ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "canary");
}

// Workers allocate all sizes, hand stacks to each other and trim; caches die and are born.
TEST(stack_cache, stress) {
  const unsigned seed = std::random_device{}();
  std::printf("seed %u\n", seed);
  stack_depot depot{small_stacks()};
  std::atomic<stack_record*> slots[32] = {};
  std::vector<std::thread> threads;
  for (unsigned thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      std::mt19937 random{seed + thread};
      for (int life = 0; life < 4; ++life) {
        stack_cache cache{depot};
        for (int step = 0; step < 3000; ++step) {
          const unsigned dice = random();
          stack_record* fresh =
              dice % 8 == 0 ? cache.allocate(std::size_t{4096} << (dice / 8 % 6)) : cache.allocate();
          ASSERT_NE(fresh, nullptr);
          fresh->owner = fresh;
          fresh->low[0] = std::byte{1};
          stack_record* found = slots[random() % 32].exchange(fresh, std::memory_order_acq_rel);
          if (found != nullptr) {
            ASSERT_EQ(found->owner, found);
            ASSERT_EQ(found->low[0], std::byte{1});
            found->low[0] = std::byte{0};
            cache.free(found);
          }
          if (dice % 512 == 1) {
            cache.trim(dice / 512 % 8);
          }
        }
      }
    });
  }
  for (std::thread& each : threads) {
    each.join();
  }
  stack_cache last{depot};
  for (auto& slot : slots) {
    if (stack_record* found = slot.load()) {
      last.free(found);
    }
  }
  EXPECT_EQ(depot.count().live, 0U);
  last.trim(0);
  EXPECT_EQ(depot.count().cached, 0U);
  EXPECT_LE(depot.count().slabs, 1U);
}

TEST(stack_cache, works_in_the_child_of_a_fork_during_use) {
  stack_cache cache;
  std::atomic<bool> stop{false};
  std::thread busy{[&] {
    stack_cache other;
    while (!stop.load()) {
      std::vector<stack_record*> stacks;
      for (int index = 0; index < 100; ++index) {
        stacks.push_back(other.allocate());
      }
      for (stack_record* each : stacks) {
        other.free(each);
      }
      other.trim(0);
    }
  }};
  for (int round = 0; round < 10; ++round) {
    fork_prepare();
    const pid_t child = fork();
    if (child == 0) {
      fork_child();
      bool good = true;
      for (int index = 0; index < 100; ++index) {
        stack_record* stack = cache.allocate();
        good = good && stack != nullptr;
        stack->low[0] = std::byte{1};
      }
      _exit(good ? 0 : 1);
    }
    fork_parent();
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  stop = true;
  busy.join();
  EXPECT_EQ(stack_depot::process().count().live, 0U);
}

} // namespace
} // namespace weft::memory
