// SPDX-License-Identifier: MIT
// The three ways to make one ULT.
#include <array>
#include <cstdint>

#include "units.hpp"

namespace abt_test {
namespace {

TEST(ABT_thread_create, runs_in_the_pool) {
  const runtime rt;
  const own_pool pool;
  ABT_pool where = ABT_POOL_NULL;
  body f = [&] { where = last_pool_of(self()); };
  ABT_thread t = new_thread(pool, f);
  EXPECT_EQ(pool.size(), 1U);
  pool.run_all();
  EXPECT_EQ(where, pool);
  EXPECT_OK(ABT_thread_free(&t));
}

TEST(ABT_thread_create, passes_the_argument) {
  const runtime rt;
  std::atomic<int> counter = 0;
  ABT_thread t = ABT_THREAD_NULL;
  ASSERT_OK(ABT_thread_create(self_pool(), count, &counter, ABT_THREAD_ATTR_NULL, &t));
  EXPECT_NE(t, ABT_THREAD_NULL);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(t) % 2, 0U); // clients tag bit 0
  EXPECT_OK(ABT_thread_free(&t));
  EXPECT_EQ(counter, 1);
}

TEST(ABT_thread_create, unnamed_frees_itself) {
  const runtime rt;
  std::atomic<int> destroyed = 0;
  const own_key key(count);
  body f = [&] { EXPECT_OK(ABT_self_set_specific(key, &destroyed)); };
  for (int i = 0; i < 100; ++i)
    ASSERT_OK(ABT_thread_create(self_pool(), run_function, &f, ABT_THREAD_ATTR_NULL, nullptr));
  yield_until([&] { return destroyed == 100; }); // destructors run when a unit is freed
}

TEST(ABT_thread_create, from_every_context) {
  const runtime rt;
  const ABT_pool pool = self_pool();
  std::atomic<int> ran = 0;
  std::array<ABT_thread, 4> made = {};
  const auto make = [&](int i) {
    return [&, i] {
      return ABT_thread_create(pool, count, &ran, ABT_THREAD_ATTR_NULL, &made[static_cast<std::size_t>(i)]);
    };
  };
  EXPECT_OK(make(0)());
  EXPECT_OK(from_tasklet(make(1)));
  EXPECT_OK(from_kernel_thread(make(2)));
  EXPECT_OK(from_scheduler(make(3)));
  for (ABT_thread& t : made)
    EXPECT_OK(ABT_thread_free(&t));
  EXPECT_EQ(ran, 4);
}

TEST(ABT_thread_create, copies_the_attributes) {
  const runtime rt;
  ABT_thread t = ABT_THREAD_NULL;
  std::size_t size = 0;
  ABT_bool migratable = ABT_TRUE;
  body f = [&] { EXPECT_OK(ABT_thread_get_stacksize(self(), &size)); };
  {
    const sized_attributes attr(256 << 10);
    EXPECT_OK(ABT_thread_attr_set_migratable(attr, ABT_FALSE));
    t = new_thread(self_pool(), f, attr);
    EXPECT_OK(ABT_thread_attr_set_migratable(attr, ABT_TRUE)); // too late for t
  }
  EXPECT_OK(ABT_thread_join(t));
  EXPECT_GE(size, std::size_t{256 << 10});
  EXPECT_OK(ABT_thread_is_migratable(t, &migratable));
  EXPECT_EQ(migratable, ABT_FALSE);
  EXPECT_OK(ABT_thread_free(&t));
}

TEST(ABT_thread_create, runs_on_a_stack_of_the_user) {
  const runtime rt;
  constexpr std::size_t bytes = 128 << 10;
  alignas(64) static char memory[bytes + 64];
  for (const std::size_t offset : {0, 8, 16, 24, 40}) { // 8-byte alignment is all that is asked for
    char* const stack = memory + offset;
    const attributes attr;
    ASSERT_OK(ABT_thread_attr_set_stack(attr, stack, bytes));
    const char* local = nullptr;
    std::string text;
    body f = [&] {
      // Not a local's address: AddressSanitizer keeps those elsewhere.
      local = static_cast<const char*>(__builtin_frame_address(0));
      text = std::to_string(static_cast<double>(offset)); // the compiler counts on an aligned stack here
      EXPECT_OK(ABT_thread_yield());
    };
    ABT_thread t = new_thread(self_pool(), f, attr);
    EXPECT_OK(ABT_thread_free(&t));
    EXPECT_GE(local, stack);
    EXPECT_LT(local, stack + bytes);
    EXPECT_EQ(text, std::to_string(static_cast<double>(offset)));
    memory[bytes - 1] = 1; // the memory is still ours
  }
}

TEST(ABT_thread_create, small_stacks_suffice_for_small_functions) {
  const runtime rt;
  std::atomic<int> ran = 0;
  for (const std::size_t bytes : {4096, 8192, 16384}) {
    const sized_attributes attr(bytes);
    ABT_thread t = ABT_THREAD_NULL;
    ASSERT_OK(ABT_thread_create(self_pool(), count, &ran, attr, &t));
    std::size_t size = 0;
    EXPECT_OK(ABT_thread_get_stacksize(t, &size));
    EXPECT_GE(size, bytes);
    EXPECT_OK(ABT_thread_free(&t));
  }
  EXPECT_EQ(ran, 3);
}

TEST(ABT_thread_create, thousands_at_once) {
  const runtime rt;
  constexpr std::size_t many = 3000;
  std::atomic<std::size_t> begun = 0;
  body f = [&] {
    ++begun;
    EXPECT_OK(ABT_self_suspend()); // with its stack
  };
  std::vector<ABT_thread> t;
  for (std::size_t i = 0; i < many; ++i)
    t.push_back(new_thread(self_pool(), f));
  yield_until([&] { return begun == many; });
  for (const ABT_thread one : t) {
    yield_until([one] { return state_of(one) == ABT_THREAD_STATE_BLOCKED; });
    EXPECT_OK(ABT_thread_resume(one));
  }
  for (ABT_thread& one : t)
    EXPECT_OK(ABT_thread_free(&one));
}

TEST(ABT_thread_create, refuses_null_pool) {
  const runtime rt;
  for (const ABT_pool pool : null_pools) {
    ABT_thread t = untouched<ABT_thread>();
    EXPECT_ABT(ABT_ERR_INV_POOL, ABT_thread_create(pool, nothing, nullptr, ABT_THREAD_ATTR_NULL, &t));
    EXPECT_EQ(t, ABT_THREAD_NULL);
    EXPECT_ABT(ABT_ERR_INV_POOL, ABT_thread_create(pool, nothing, nullptr, ABT_THREAD_ATTR_NULL, nullptr));
  }
}

TEST(ABT_thread_create, refuses_a_stack_that_does_not_fit) {
  const runtime rt;
  const own_pool pool;
  for (const std::size_t bytes : {too_large, too_large * 2}) {
    const sized_attributes attr(bytes);
    ABT_thread t = untouched<ABT_thread>();
    EXPECT_ABT(ABT_ERR_MEM, ABT_thread_create(pool, nothing, nullptr, attr, &t));
    EXPECT_EQ(t, ABT_THREAD_NULL);
    EXPECT_ABT(ABT_ERR_MEM, ABT_thread_create(pool, nothing, nullptr, attr, nullptr));
  }
  EXPECT_EQ(pool.size(), 0U);
}

TEST(ABT_thread_create, refuses_when_the_pool_makes_no_unit) {
  const runtime rt;
  const user_pool pool(0);
  ABT_thread t = untouched<ABT_thread>();
  EXPECT_ABT(no_unit_made, ABT_thread_create(pool, nothing, nullptr, ABT_THREAD_ATTR_NULL, &t));
  EXPECT_EQ(t, ABT_THREAD_NULL);
  EXPECT_ABT(no_unit_made, ABT_thread_create(pool, nothing, nullptr, ABT_THREAD_ATTR_NULL, nullptr));
  EXPECT_EQ(pool.size(), 0U);
}

TEST(ABT_thread_create_to, runs_the_new_thread_first) {
  const runtime rt;
  in_thread([] {
    std::string order;
    body before = [&] { order += 'a'; };
    body target = [&] { order += 'b'; };
    ABT_thread queued = new_thread(self_pool(), before);
    ABT_thread t = ABT_THREAD_NULL;
    ASSERT_OK(ABT_thread_create_to(self_pool(), run_function, &target, ABT_THREAD_ATTR_NULL, &t));
    EXPECT_EQ(order[0], 'b'); // before what was in the pool, and before the creator goes on
    free_all({&queued, &t});
    EXPECT_EQ(order, "ba");
  });
}

TEST(ABT_thread_create_to, sets_the_handle_before_it_switches) {
  const runtime rt;
  ABT_thread t = ABT_THREAD_NULL;
  ABT_thread seen = ABT_THREAD_NULL;
  ABT_thread own = ABT_THREAD_NULL;
  body f = [&] {
    seen = t;
    own = self();
  };
  ASSERT_OK(ABT_thread_create_to(self_pool(), run_function, &f, ABT_THREAD_ATTR_NULL, &t));
  EXPECT_EQ(own, t);
  EXPECT_EQ(seen, t);
  EXPECT_OK(ABT_thread_free(&t));
}

TEST(ABT_thread_create_to, the_pool_never_holds_the_thread) {
  const runtime rt;
  const own_pool pool;
  std::size_t size = 9;
  body f = [&] {
    size = pool.size();
    EXPECT_EQ(last_pool_of(self()), pool);
    EXPECT_OK(ABT_thread_yield()); // now it enters
  };
  ABT_thread t = ABT_THREAD_NULL;
  ASSERT_OK(ABT_thread_create_to(pool, run_function, &f, ABT_THREAD_ATTR_NULL, &t));
  EXPECT_EQ(size, 0U);
  EXPECT_EQ(pool.size(), 1U);
  pool.run_all();
  EXPECT_OK(ABT_thread_free(&t));
}

TEST(ABT_thread_create_to, unnamed_and_with_attributes) {
  const runtime rt;
  const sized_attributes attr(200 << 10);
  std::size_t size = 0;
  body f = [&] { EXPECT_OK(ABT_thread_get_stacksize(self(), &size)); };
  ASSERT_OK(ABT_thread_create_to(self_pool(), run_function, &f, attr, nullptr));
  EXPECT_GE(size, std::size_t{200 << 10});
}

TEST(ABT_thread_create_to, refuses_null_pool) {
  const runtime rt;
  for (const ABT_pool pool : null_pools) {
    ABT_thread t = untouched<ABT_thread>();
    EXPECT_ABT(ABT_ERR_INV_POOL, ABT_thread_create_to(pool, nothing, nullptr, ABT_THREAD_ATTR_NULL, &t));
    EXPECT_EQ(t, untouched<ABT_thread>());
  }
}

TEST(ABT_thread_create_to, refuses_callers_that_cannot_yield) {
  const runtime rt;
  const ABT_pool pool = self_pool();
  const auto call = [&] {
    return ABT_thread_create_to(pool, nothing, nullptr, ABT_THREAD_ATTR_NULL, nullptr);
  };
  EXPECT_ABT(ABT_ERR_INV_THREAD, from_tasklet(call));
  EXPECT_ABT(ABT_ERR_INV_XSTREAM, from_kernel_thread(call));
  EXPECT_ABT(ABT_ERR_INV_THREAD, from_scheduler(call));
}

TEST(ABT_thread_create_to, refuses_a_stack_that_does_not_fit) {
  const runtime rt;
  const sized_attributes attr(too_large);
  ABT_thread t = untouched<ABT_thread>();
  EXPECT_ABT(ABT_ERR_MEM, ABT_thread_create_to(self_pool(), nothing, nullptr, attr, &t));
  EXPECT_EQ(t, untouched<ABT_thread>());
}

TEST(ABT_thread_create_to, refuses_when_the_pool_makes_no_unit) {
  const runtime rt;
  const user_pool pool(0);
  ABT_thread t = untouched<ABT_thread>();
  EXPECT_ABT(no_unit_made, ABT_thread_create_to(pool, nothing, nullptr, ABT_THREAD_ATTR_NULL, &t));
  EXPECT_EQ(t, untouched<ABT_thread>());
}

TEST(ABT_thread_create_on_xstream, runs_there) {
  const runtime rt;
  const streams es(2);
  for (std::size_t i = 0; i < 2; ++i) {
    ABT_xstream where = ABT_XSTREAM_NULL;
    body f = [&] { where = self_xstream(); };
    ABT_thread t = ABT_THREAD_NULL;
    ASSERT_OK(ABT_thread_create_on_xstream(es[i], run_function, &f, ABT_THREAD_ATTR_NULL, &t));
    EXPECT_EQ(last_pool_of(t), es.pool(i));
    EXPECT_OK(ABT_thread_free(&t));
    EXPECT_EQ(where, es[i]);
  }
}

TEST(ABT_thread_create_on_xstream, unnamed_and_with_attributes) {
  const runtime rt;
  const streams es(1);
  const sized_attributes attr(200 << 10);
  std::atomic<std::size_t> size = 0;
  body f = [&] {
    std::size_t mine = 0;
    EXPECT_OK(ABT_thread_get_stacksize(self(), &mine));
    size = mine;
  };
  ASSERT_OK(ABT_thread_create_on_xstream(es[0], run_function, &f, attr, nullptr));
  yield_until([&] { return size != 0; });
  EXPECT_GE(size, std::size_t{200 << 10});
}

TEST(ABT_thread_create_on_xstream, refuses_null_xstream) {
  const runtime rt;
  for (const ABT_xstream es : null_xstreams) {
    ABT_thread t = untouched<ABT_thread>();
    EXPECT_ABT(ABT_ERR_INV_XSTREAM,
               ABT_thread_create_on_xstream(es, nothing, nullptr, ABT_THREAD_ATTR_NULL, &t));
    EXPECT_EQ(t, ABT_THREAD_NULL);
  }
}

TEST(ABT_thread_create_on_xstream, refuses_a_stack_that_does_not_fit) {
  const runtime rt;
  const sized_attributes attr(too_large);
  ABT_thread t = untouched<ABT_thread>();
  EXPECT_ABT(ABT_ERR_MEM, ABT_thread_create_on_xstream(self_xstream(), nothing, nullptr, attr, &t));
  EXPECT_EQ(t, ABT_THREAD_NULL);
}

} // namespace
} // namespace abt_test
