// SPDX-License-Identifier: MIT
#include "weft/memory/object_cache.hpp"

#include "weft/memory/fork.hpp"
#include "weft/os/fault.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
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

// Each test has a type, hence a depot, of its own.
template <int Test>
struct alignas(64) unit {
  void* state;
  void* link;
  std::uint64_t tag;
  std::byte rest[104];
};

template <int Test>
object_depot& depot() {
  return object_cache<unit<Test>>::process_depot();
}

TEST(object_cache, hands_out_distinct_aligned_objects) {
  using object = unit<1>;
  object_cache<object> cache;
  std::set<object*> seen;
  for (int round = 0; round < 2000; ++round) {
    object* fresh = cache.allocate();
    ASSERT_NE(fresh, nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(fresh) % 128, 0U) << "two lines that are fetched as a pair";
    EXPECT_TRUE(seen.insert(fresh).second);
    fresh->tag = 42;
  }
  EXPECT_EQ(depot<1>().count().live, 2000U);
  for (object* each : seen) {
    cache.free(each);
  }
  const auto after = depot<1>().count();
  EXPECT_EQ(after.live, 0U);
  EXPECT_EQ(after.slabs, 4U) << "511 objects a slab";
}

TEST(object_cache, reuses_the_newest_first) {
  object_cache<unit<2>> cache;
  auto* first = cache.allocate();
  auto* second = cache.allocate();
  cache.free(first);
  cache.free(second);
  EXPECT_EQ(cache.allocate(), second);
  EXPECT_EQ(cache.allocate(), first);
  cache.free(first);
  cache.free(second);
  EXPECT_EQ(depot<2>().count().live, 0U);
}

// What is handed out holds anything, also where the list had its link.
TEST(object_cache, is_counted_while_it_works) {
  using object = unit<10>;
  std::atomic<bool> stop{false};
  std::atomic<int> rounds{0};
  std::thread worker{[&] {
    object_cache<object> cache;
    std::array<object*, 600> held{};
    for (; !stop; ++rounds) {
      for (object*& each : held) {
        each = cache.allocate();
        std::memset(static_cast<void*>(each), 0x5a, sizeof *each);
      }
      for (object* each : held)
        cache.free(each);
    }
  }};
  while (rounds < 1000)
    EXPECT_LE(depot<10>().count().live, 2U * 511);
  stop = true;
  worker.join();
  EXPECT_EQ(depot<10>().count().live, 0U);
}

TEST(object_cache, frees_from_another_kernel_thread_go_back) {
  using object = unit<3>;
  object_cache<object> mine;
  for (int round = 0; round < 20; ++round) {
    std::vector<object*> handed(3000);
    for (object*& each : handed) {
      each = mine.allocate();
      ASSERT_NE(each, nullptr);
    }
    std::thread{[&] {
      object_cache<object> other;
      for (object* each : handed) {
        other.free(each);
      }
      object* own = other.allocate();
      EXPECT_EQ(std::count(handed.begin(), handed.end(), own), 0) << "freed objects stay with their owner";
      other.free(own);
    }}.join();
  }
  EXPECT_LE(depot<3>().slab_count(), 8U) << "twenty rounds reuse the slabs of the first";
  EXPECT_EQ(depot<3>().count().live, 0U);
}

TEST(object_cache, slabs_of_a_dead_cache_are_adopted) {
  using object = unit<4>;
  std::vector<object*> survivors;
  {
    object_cache<object> dying;
    for (int index = 0; index < 1500; ++index) {
      survivors.push_back(dying.allocate());
    }
    for (int index = 0; index < 700; ++index) {
      dying.free(survivors.back());
      survivors.pop_back();
    }
  }
  EXPECT_EQ(depot<4>().count().live, survivors.size());
  object_cache<object> living; // takes the estate as it is
  object_cache<object> second;
  for (object* each : survivors) {
    second.free(each); // goes back to `living`
  }
  EXPECT_EQ(depot<4>().count().live, 0U);
  const std::size_t slabs = depot<4>().slab_count();
  std::vector<object*> again;
  for (int index = 0; index < 1500; ++index) {
    again.push_back(living.allocate());
  }
  EXPECT_EQ(depot<4>().slab_count(), slabs) << "the adopted slabs serve them all";
  for (object* each : again) {
    living.free(each);
  }
  EXPECT_EQ(depot<4>().count().live, 0U);
}

TEST(object_cache, a_running_cache_adopts_orphans_before_it_maps) {
  using object = unit<5>;
  object_cache<object> running;
  object* own = running.allocate();
  object* survivor = nullptr;
  {
    object_cache<object> dying;
    survivor = dying.allocate();
  }
  std::vector<object*> taken;
  for (std::size_t index = 0; index + 2 < 2 * std::size_t{depot<5>().capacity()}; ++index) {
    taken.push_back(running.allocate());
  }
  EXPECT_EQ(depot<5>().slab_count(), 2U);
  running.free(survivor); // its slab is ours by now
  EXPECT_EQ(running.allocate(), survivor);
  running.free(survivor);
  running.free(own);
  for (object* each : taken) {
    running.free(each);
  }
  EXPECT_EQ(depot<5>().count().live, 0U);
}

TEST(object_cache, trim_returns_slabs_beyond_the_reserve) {
  using object = unit<6>;
  object_cache<object> cache;
  std::vector<object*> objects;
  for (int index = 0; index < 20000; ++index) {
    objects.push_back(cache.allocate());
    objects.back()->tag = 1;
  }
  object* last = objects.back();
  objects.pop_back();
  for (object* each : objects) {
    cache.free(each);
  }
  const std::size_t before = depot<6>().slab_count();
  ASSERT_GE(before, 39U);
  EXPECT_EQ(cache.trim(1), (before - 2) * object_slab::bytes) << "one is kept, one has a live object";
  EXPECT_EQ(depot<6>().count().live, 1U);
  last->tag = 2; // still mapped
  cache.free(last);
  EXPECT_EQ(cache.trim(0), 2 * object_slab::bytes);
  EXPECT_EQ(depot<6>().count().mapped_bytes, 0U);
  object* fresh = cache.allocate();
  ASSERT_NE(fresh, nullptr);
  cache.free(fresh);
}

TEST(object_cache, a_failed_mmap_loses_nothing) {
  using object = unit<7>;
  object_cache<object> cache;
  std::vector<object*> objects;
  while (objects.size() < depot<7>().capacity()) {
    objects.push_back(cache.allocate());
  }
  os::fail_nth(os::fault_site::mmap, 1, ENOMEM);
  EXPECT_EQ(cache.allocate(), nullptr);
  EXPECT_EQ(cache.last_error(), ENOMEM);
  os::disarm_faults();
  EXPECT_EQ(os::fault_hits(os::fault_site::mmap), 1U);
  EXPECT_EQ(depot<7>().count().live, objects.size());
  objects.push_back(cache.allocate());
  EXPECT_NE(objects.back(), nullptr);
  for (object* each : objects) {
    cache.free(each);
  }
  EXPECT_EQ(depot<7>().count().live, 0U);
}

} // namespace

struct alignas(64) linked_unit {
  std::uint64_t state;
  void* link;
  std::byte rest[112];
};
template <>
inline constexpr std::size_t object_link_offset<linked_unit> = offsetof(linked_unit, link);

namespace {

TEST(object_cache, the_link_is_where_the_type_says) {
  object_cache<linked_unit> cache;
  linked_unit* one = cache.allocate();
  one->state = 7;
  cache.free(one);
  EXPECT_EQ(one->state, 7U) << "a freed object stays readable but for its link";
  EXPECT_EQ(cache.allocate(), one);
  cache.free(one);
}

TEST(object_cache, shared_cache_serves_foreign_kernel_threads) {
  using object = unit<8>;
  shared_object_cache<object> shared;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      std::vector<object*> mine;
      for (int index = 0; index < 2000; ++index) {
        mine.push_back(shared.allocate());
        mine.back()->tag = reinterpret_cast<std::uintptr_t>(mine.back());
      }
      for (object* each : mine) {
        EXPECT_EQ(each->tag, reinterpret_cast<std::uintptr_t>(each));
        shared.free(each);
      }
    });
  }
  for (std::thread& each : threads) {
    each.join();
  }
  EXPECT_EQ(depot<8>().count().live, 0U);
}

// Workers allocate, exchange objects through slots and free what they find; caches die and are born
// meanwhile.
TEST(object_cache, stress_with_dying_caches) {
  using object = unit<9>;
  const unsigned seed = std::random_device{}();
  std::printf("seed %u\n", seed);
  std::atomic<object*> slots[64] = {};
  std::vector<std::thread> threads;
  for (unsigned thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&slots, thread, seed] {
      std::mt19937 random{seed + thread};
      for (int life = 0; life < 12; ++life) {
        object_cache<object> cache;
        std::vector<object*> mine;
        for (int step = 0; step < 4000; ++step) {
          object* fresh = cache.allocate();
          ASSERT_NE(fresh, nullptr);
          ASSERT_NE(fresh->tag, 0xA11FEU) << "handed out twice";
          fresh->tag = 0xA11FE;
          object* found = slots[random() % 64].exchange(fresh, std::memory_order_acq_rel);
          if (found != nullptr) {
            ASSERT_EQ(found->tag, 0xA11FEU);
            found->tag = 0;
            cache.free(found);
          }
          if (random() % 1024 == 0) {
            cache.trim(0);
          }
        }
      }
    });
  }
  for (std::thread& each : threads) {
    each.join();
  }
  object_cache<object> last;
  for (auto& slot : slots) {
    if (object* found = slot.load()) {
      last.free(found);
    }
  }
  EXPECT_EQ(depot<9>().count().live, 0U);
}

TEST(object_cache, works_in_the_child_of_a_fork_during_use) {
  using object = unit<10>;
  object_cache<object> cache;
  std::atomic<bool> stop{false};
  std::thread busy{[&] {
    object_cache<object> other;
    while (!stop.load()) {
      std::vector<object*> objects;
      for (int index = 0; index < 1000; ++index) {
        objects.push_back(other.allocate());
      }
      for (object* each : objects) {
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
      std::vector<object*> objects;
      for (int index = 0; index < 2000; ++index) {
        objects.push_back(cache.allocate());
      }
      _exit(objects.back() != nullptr ? 0 : 1);
    }
    fork_parent();
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  stop = true;
  busy.join();
}

} // namespace
} // namespace weft::memory
