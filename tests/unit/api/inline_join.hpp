// SPDX-License-Identifier: MIT
// What the tests of joins on the joiner's own stack share. A thread that runs there is told by its stack
// record, which is the joiner's.
#pragma once

#include <chrono>
#include <cstdlib>
#include <ostream>
#include <string>

#include "tests/unit/census_check.hpp"
#include <gtest/gtest.h>

#include "weft/pool.hpp"
#include "weft/runtime.hpp"
#include "weft/sched/call_by_joiner.hpp"
#include "weft/thread.hpp"

namespace weft::test {

using namespace std::chrono_literals;
using sched::here;

// What is long is shorter where every access is watched; memcheck's runs set the variable.
inline bool slow_build() {
  return arch::sanitizer::watches_frames || std::getenv("WEFT_CONFORMANCE_SCALE") != nullptr;
}

// Functions, not inlined: the caller may have moved to another kernel thread since it last asked.
[[gnu::noinline]] inline const memory::stack_record* stack_here() {
  return here().current->stack;
}
[[gnu::noinline]] inline unsigned worker_here() {
  return here().number;
}
[[gnu::noinline]] inline unit::descriptor& self() {
  return *here().current;
}
// One join in decision_budget goes through the loop, which has no stack for it: not the next one.
[[gnu::noinline]] inline void renew_budget() {
  here().budget = sched::decision_budget;
}

inline pool& main_pool_of(unsigned member) {
  return *sched::default_group().member(member).main_pool.load_acquire();
}

// Joins `t`, which runs `*stack = stack_here()`; whether it has run on the caller's stack.
template <class Join>
bool shares_stack_with(const memory::stack_record* const& stack, Join join) {
  const memory::stack_record* mine = stack_here();
  renew_budget();
  join();
  return stack == mine;
}
// A thread that says which stack it runs on: null if it never ran.
struct witness {
  explicit witness(const thread_attributes& a) : t(a, [this] { stack = stack_here(); }) {}
  witness() : t([this] { stack = stack_here(); }) {}
  bool joined_inline() {
    return shares_stack_with(stack, [this] { t.join(); });
  }

  const memory::stack_record* stack = nullptr;
  thread t;
};
template <class F>
bool join_inline(F body) {
  const memory::stack_record* stack = nullptr;
  thread t([&stack, &body] {
    stack = stack_here();
    body();
  });
  return shares_stack_with(stack, [&t] { t.join(); });
}

struct layout {
  arrangement pools;
  unsigned workers;
};
inline constexpr layout private_1{arrangement::pool_per_worker, 1};
inline constexpr layout private_2{arrangement::pool_per_worker, 2};
inline constexpr layout private_4{arrangement::pool_per_worker, 4};
inline constexpr layout stealing_1{arrangement::stealing, 1};
inline constexpr layout stealing_2{arrangement::stealing, 2};
inline constexpr layout stealing_4{arrangement::stealing, 4};
inline constexpr layout hierarchical_4{arrangement::hierarchical, 4};
inline constexpr layout priority_1{arrangement::custom, 1}; // see options_of()
inline constexpr layout priority_4{arrangement::custom, 4};
inline constexpr layout shared_1{arrangement::one_pool, 1};
inline constexpr layout shared_4{arrangement::one_pool, 4};
inline void PrintTo(const layout& l, std::ostream* out) {
  *out << (l.pools == arrangement::stealing       ? "stealing"
           : l.pools == arrangement::hierarchical ? "hierarchical"
           : l.pools == arrangement::one_pool     ? "shared"
           : l.pools == arrangement::custom       ? "priority"
                                                  : "private")
       << '_' << l.workers;
}
// A runtime laid out like that; `custom` is a pool and a scheduler by priority for each worker.
inline runtime::options options_of(const layout& l) {
  runtime::options o{.workers = l.workers, .pools = l.pools, .bind = false, .make_scheduler = nullptr};
  if (l.pools == arrangement::custom) {
    o.make_scheduler = [](unsigned) {
      return std::make_shared<priority_scheduler>(
          std::vector<std::shared_ptr<pool>>{make_pool(order::priority, access::mpsc)});
    };
  }
  return o;
}
inline std::string name_of(const ::testing::TestParamInfo<layout>& info) {
  return ::testing::PrintToString(info.param);
}

class joins : public ::testing::TestWithParam<layout> {
 protected:
  void SetUp() override {
    ASSERT_TRUE(runtime::start(options_of(GetParam())));
    this_thread::yield(); // a worker has to look for what was pushed before; it inlines nothing until then
    census_.begin();
  }
  void TearDown() override {
    census_.end();
    EXPECT_TRUE(runtime::stop());
  }

  static bool has_other_pools() {
    return GetParam().workers > 1 && GetParam().pools == arrangement::pool_per_worker;
  }
  // Elsewhere another worker may be faster than the joiner.
  static void expect_inlined(bool inlined) {
    if (GetParam().workers == 1 || GetParam().pools == arrangement::pool_per_worker) {
      EXPECT_TRUE(inlined);
    }
  }
  // From main, whose stack is the kernel thread's and who cannot move, and from a thread with its own stack.
  template <class F>
  static void from_main_and_a_thread(F test) {
    test();
    thread t(own_stack(), [&test] { test(); });
    t.join();
  }
  static thread_attributes own_stack() {
    thread_attributes a;
    a.stack_size = 256 << 10;
    return a;
  }
  static thread_attributes in_pool_of(unsigned member) {
    thread_attributes a;
    a.pool = &main_pool_of(member);
    return a;
  }

 private:
  census_check census_;
};

} // namespace weft::test

#define WEFT_INLINE_JOIN_SUITE(name, ...)                                                                    \
  class name : public ::weft::test::joins {};                                                                \
  INSTANTIATE_TEST_SUITE_P(layouts, name, ::testing::Values(__VA_ARGS__), ::weft::test::name_of)
