// SPDX-License-Identifier: MIT
// Which joins run the thread on the joiner's own stack, and which do not.
#include <atomic>
#include <cstdint>
#include <exception>
#include <stdexcept>
#include <system_error>

#include "tests/unit/api/inline_join.hpp"
#include "weft/memory/stack_depot.hpp"
#include "weft/memory/stack_options.hpp"

namespace weft::test {
namespace {

WEFT_INLINE_JOIN_SUITE(inline_join_alone, private_1, stealing_1);
WEFT_INLINE_JOIN_SUITE(inline_join, private_1, private_2, private_4, stealing_1, stealing_2, stealing_4);

// --- how often ---

struct tally {
  std::atomic<int> joined = 0;
  std::atomic<int> shared = 0;
};

int fib(int n, tally& counts) {
  if (n < 2)
    return n;
  struct call {
    int n;
    int result;
    const memory::stack_record* stack;
    tally& counts;
  } left{n - 1, 0, stack_here(), counts};
  thread t([&left] {
    left.counts.shared += stack_here() == left.stack ? 1 : 0;
    left.result = fib(left.n, left.counts);
  });
  const int right = fib(n - 2, counts);
  t.join();
  ++counts.joined;
  return left.result + right;
}

TEST_P(inline_join_alone, is_what_nearly_all_joins_of_a_tree_are) {
  const int n = slow_build() ? 18 : 23;
  const int result = slow_build() ? 2584 : 28657;
  from_main_and_a_thread([&] {
    tally counts;
    EXPECT_EQ(fib(n, counts), result);
    EXPECT_GT(counts.joined, result);
    EXPECT_GT(counts.shared, 0.95 * counts.joined);
  });
  thread t(thread_attributes{.name = "a name, so a stack of the default size"}, [&] {
    tally counts;
    EXPECT_EQ(fib(n, counts), result);
    EXPECT_GT(counts.shared, 0.95 * counts.joined);
  });
  t.join();
}

void descend(int depth, const memory::stack_record* above, int& own_stacks) {
  const memory::stack_record* mine = stack_here();
  own_stacks += mine != above ? 1 : 0;
  if (depth == 0)
    return;
  struct call {
    int depth;
    const memory::stack_record* stack;
    int& own_stacks;
  } next{depth - 1, mine, own_stacks};
  thread t([&next] { descend(next.depth, next.stack, next.own_stacks); });
  t.join();
  EXPECT_EQ(stack_here(), mine);
}

TEST_P(inline_join_alone, ends_where_the_room_ends) {
  const int depth = slow_build() ? 10'000 : 1'000'000;
  int own_stacks = 0;
  descend(depth, stack_here(), own_stacks);
  EXPECT_GT(own_stacks, 0) << "a chain so long is on one stack";
  EXPECT_LT(own_stacks, depth / 2) << "most have a stack of their own";
}

// --- when not ---

TEST_P(inline_join, of_an_ordinary_thread) {
  from_main_and_a_thread([] {
    for (int i = 0; i < 100; ++i)
      expect_inlined(witness().joined_inline());
  });
}

TEST_P(inline_join, not_of_one_with_attributes) {
  from_main_and_a_thread([] {
    witness sized(thread_attributes{.stack_size = 128 << 10});
    EXPECT_FALSE(sized.joined_inline());
    witness named(thread_attributes{.name = "named"});
    EXPECT_FALSE(named.joined_inline());
  });
}

TEST_P(inline_join, not_of_one_with_local_storage) {
  if (GetParam().workers > 1 && GetParam().pools == arrangement::stealing)
    GTEST_SKIP() << "it may run elsewhere while its storage is set from here";
  const unit::local_key key = unit::make_key(nullptr);
  from_main_and_a_thread([key] {
    int value = 0;
    int* seen = nullptr;
    const memory::stack_record* stack = nullptr;
    thread_attributes a;
    a.pool = self().own_pool;
    thread t(a, [&] {
      stack = stack_here();
      seen = static_cast<int*>(unit::get_local(self(), key));
    });
    unit::set_local(*t.native_handle(), key, &value); // from outside, before it can run
    EXPECT_FALSE(shares_stack_with(stack, [&t] { t.join(); }));
    EXPECT_EQ(seen, &value);
  });
  unit::delete_key(key);
}

TEST_P(inline_join_alone, not_of_one_that_was_cancelled) {
  witness w;
  w.t.cancel();
  EXPECT_FALSE(w.joined_inline());
  EXPECT_EQ(w.stack, nullptr) << "it has run";
}

TEST_P(inline_join_alone, not_of_one_that_was_asked_to_move) {
  witness w;
  w.t.migrate_to(*self().own_pool);
  EXPECT_FALSE(w.joined_inline());
  EXPECT_NE(w.stack, nullptr);
}

TEST_P(inline_join, not_while_an_exception_is_caught) {
  from_main_and_a_thread([] {
    try {
      throw std::runtime_error("caught");
    } catch (const std::runtime_error& e) {
      EXPECT_FALSE(witness().joined_inline());
      EXPECT_STREQ(e.what(), "caught");
      EXPECT_NE(std::current_exception(), nullptr);
    }
    expect_inlined(witness().joined_inline());
  });
}

TEST_P(inline_join, not_while_an_exception_flies) {
  struct joins_on_the_way {
    bool& inlined;
    ~joins_on_the_way() { inlined = witness().joined_inline(); }
  };
  bool inlined = true;
  try {
    const joins_on_the_way j{inlined};
    throw 1;
  } catch (int) {
  }
  EXPECT_FALSE(inlined);
}

[[gnu::noinline]] void below_the_floor(int& left) {
  volatile char frame[1024];
  frame[0] = 0;
  if (--left > 0 && arch::stack_is_above(stack_here()->inline_floor))
    below_the_floor(left);
  else
    EXPECT_FALSE(witness().joined_inline());
  frame[1] = frame[0];
}

TEST_P(inline_join, not_without_room) {
  thread t(thread_attributes{.name = "default size"}, [] {
    const memory::stack_record& mine = *stack_here();
    EXPECT_EQ(mine.inline_floor, memory::stack_options::inline_floor(
                                     mine.low, memory::stack_depot::process().options().inline_need()));
    int left = 1000;
    below_the_floor(left);
    EXPECT_GT(left, 0) << "there was room everywhere";
  });
  t.join();
}

TEST_P(inline_join, not_of_one_in_another_workers_pool) {
  if (!has_other_pools())
    GTEST_SKIP() << "one pool, or pools that all serve";
  from_main_and_a_thread([] {
    for (int i = 0; i < 20; ++i) {
      const unsigned home = worker_here();
      unsigned ran_on = home;
      thread t(in_pool_of(1), [&ran_on] { ran_on = worker_here(); });
      t.join();
      EXPECT_NE(ran_on, home);
      EXPECT_EQ(worker_here(), home);
    }
  });
}

TEST_P(inline_join, not_with_a_time_limit) {
  from_main_and_a_thread([] {
    witness w;
    EXPECT_FALSE(shares_stack_with(w.stack, [&w] { EXPECT_TRUE(w.t.try_join_for(60s)); }));
    witness v;
    std::stop_source never;
    EXPECT_FALSE(shares_stack_with(v.stack, [&v, &never] { EXPECT_TRUE(v.t.join(never.get_token())); }));
  });
}

TEST_P(inline_join_alone, not_by_a_tasklet) {
  witness w;
  int code = 0;
  tasklet k([&w, &code] {
    try {
      w.t.join();
    } catch (const std::system_error& e) {
      code = e.code().value();
    }
  });
  k.join();
  EXPECT_EQ(code, static_cast<int>(std::errc::operation_not_permitted));
  EXPECT_TRUE(w.joined_inline());
}

TEST(inline_join_options, say_how_much_room_a_thread_needs) {
  using memory::stack_options;
  stack_options o;
  o.default_size = 96 << 10;
  EXPECT_EQ(o.inline_need(), std::size_t{96 << 10});
  auto* const low = reinterpret_cast<const std::byte*>(std::uintptr_t{1} << 20);
  EXPECT_EQ(stack_options::inline_floor(low, o.inline_need()), low + (96 << 10));
  o.inline_joins = false;
  const std::byte* const nowhere = stack_options::inline_floor(low, o.inline_need());
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(nowhere), ~std::uintptr_t{0} / 2);
  EXPECT_EQ(stack_options::inline_floor(nullptr, o.inline_need()), nowhere);
  EXPECT_FALSE(arch::stack_is_above(nowhere));
}

TEST(inline_join_options, reach_every_stack_of_a_depot) {
  memory::stack_options o;
  for (const bool allowed : {true, false}) {
    o.inline_joins = allowed;
    memory::stack_depot depot(o);
    memory::stack_cache cache(depot);
    for (const std::size_t size : {std::size_t{0}, std::size_t{16 << 10}, std::size_t{512 << 10}}) {
      memory::stack_record* s = size == 0 ? cache.allocate() : cache.allocate(size);
      ASSERT_NE(s, nullptr);
      const auto floor = reinterpret_cast<std::uintptr_t>(s->inline_floor);
      // The need is the default size, whatever the joiner's is: a small stack has room for nobody.
      EXPECT_EQ(floor,
                allowed ? reinterpret_cast<std::uintptr_t>(s->low) + o.default_size : ~std::uintptr_t{0} / 2);
      cache.free(s);
    }
  }
}

} // namespace
} // namespace weft::test
