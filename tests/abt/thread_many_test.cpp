// SPDX-License-Identifier: MIT
// Many ULTs with one call. Upstream reports hardly any error here; what a call that fails half-way leaves
// behind is in better_thread_test.cpp.
#include "units.hpp"

namespace abt_test {
namespace {

using function = void (*)(void*);

TEST(ABT_thread_create_many, each_with_its_pool_function_and_argument) {
  const runtime rt;
  const own_pool a;
  const own_pool b;
  std::atomic<int> counters[3] = {};
  ABT_pool pools[] = {a, b, a, b};
  function functions[] = {count, count, nothing, count};
  void* args[] = {&counters[0], &counters[1], nullptr, &counters[2]};
  ABT_thread t[4] = {};
  ASSERT_OK(ABT_thread_create_many(4, pools, functions, args, ABT_THREAD_ATTR_NULL, t));
  EXPECT_EQ(a.size(), 2U);
  EXPECT_EQ(b.size(), 2U);
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(last_pool_of(t[i]), pools[i]);
    void* arg = &counters;
    EXPECT_OK(ABT_thread_get_arg(t[i], &arg));
    EXPECT_EQ(arg, args[i]);
  }
  EXPECT_EQ(a.pop(), t[0]); // in the order of the list
  EXPECT_EQ(a.pop(), t[2]);
  EXPECT_OK(ABT_self_schedule(t[2], ABT_POOL_NULL));
  EXPECT_OK(ABT_self_schedule(t[0], ABT_POOL_NULL));
  b.run_all();
  for (const auto& counter : counters)
    EXPECT_EQ(counter, 1);
  EXPECT_OK(ABT_thread_free_many(4, t));
}

TEST(ABT_thread_create_many, without_arguments) {
  const runtime rt;
  std::vector<ABT_pool> pools(100, self_pool());
  std::vector<function> functions(100, [](void* arg) { EXPECT_EQ(arg, nullptr); });
  std::vector<ABT_thread> t(100, ABT_THREAD_NULL);
  ASSERT_OK(
      ABT_thread_create_many(100, pools.data(), functions.data(), nullptr, ABT_THREAD_ATTR_NULL, t.data()));
  EXPECT_OK(ABT_thread_free_many(100, t.data()));
}

TEST(ABT_thread_create_many, unnamed) {
  const runtime rt;
  std::atomic<int> ran = 0;
  std::vector<ABT_pool> pools(50, self_pool());
  std::vector<function> functions(50, count);
  std::vector<void*> args(50, &ran);
  ASSERT_OK(
      ABT_thread_create_many(50, pools.data(), functions.data(), args.data(), ABT_THREAD_ATTR_NULL, nullptr));
  yield_until([&] { return ran == 50; });
}

TEST(ABT_thread_create_many, with_attributes) {
  const runtime rt;
  const sized_attributes attr(100 << 10);
  ABT_pool pools[] = {self_pool(), self_pool()};
  function functions[] = {nothing, nothing};
  ABT_thread t[2] = {};
  ASSERT_OK(ABT_thread_create_many(2, pools, functions, nullptr, attr, t));
  for (const ABT_thread one : t) {
    std::size_t size = 0;
    EXPECT_OK(ABT_thread_get_stacksize(one, &size));
    EXPECT_GE(size, std::size_t{100 << 10});
  }
  EXPECT_OK(ABT_thread_free_many(2, t));
}

TEST(ABT_thread_create_many, none) {
  const runtime rt;
  EXPECT_OK(ABT_thread_create_many(0, nullptr, nullptr, nullptr, ABT_THREAD_ATTR_NULL, nullptr));
}

TEST(ABT_thread_create_many, from_every_context) {
  const runtime rt;
  ABT_pool pools[] = {self_pool(), self_pool()};
  function functions[] = {nothing, nothing};
  ABT_thread t[2] = {};
  const auto make = [&] {
    return ABT_thread_create_many(2, pools, functions, nullptr, ABT_THREAD_ATTR_NULL, t);
  };
  EXPECT_OK(from_tasklet(make));
  EXPECT_OK(ABT_thread_free_many(2, t));
  EXPECT_OK(from_kernel_thread(make));
  EXPECT_OK(ABT_thread_free_many(2, t));
}

TEST(ABT_thread_create_many, refuses_a_stack_of_the_user) {
  const runtime rt;
  alignas(16) static char memory[64 << 10];
  const attributes attr;
  ASSERT_OK(ABT_thread_attr_set_stack(attr, memory, sizeof memory)); // two threads cannot share it
  ABT_pool pools[] = {self_pool(), self_pool()};
  function functions[] = {nothing, nothing};
  ABT_thread t[2] = {};
  EXPECT_ABT(ABT_ERR_INV_THREAD_ATTR, ABT_thread_create_many(2, pools, functions, nullptr, attr, t));
  EXPECT_ABT(ABT_ERR_INV_THREAD_ATTR, ABT_thread_create_many(2, pools, functions, nullptr, attr, nullptr));
}

TEST(ABT_thread_create_many, refuses_null_pool) {
  const runtime rt;
  for (const ABT_pool null : null_pools) {
    ABT_pool pools[] = {null};
    function functions[] = {nothing};
    ABT_thread t[1] = {};
    EXPECT_ABT(ABT_ERR_INV_POOL,
               ABT_thread_create_many(1, pools, functions, nullptr, ABT_THREAD_ATTR_NULL, t));
    EXPECT_ABT(ABT_ERR_INV_POOL,
               ABT_thread_create_many(1, pools, functions, nullptr, ABT_THREAD_ATTR_NULL, nullptr));
  }
}

TEST(ABT_thread_free_many, joins_and_frees_each) {
  const runtime rt;
  const streams es(1);
  std::atomic<int> destroyed = 0;
  const own_key key(count);
  body f = [&] {
    EXPECT_OK(ABT_thread_yield());
    EXPECT_OK(ABT_self_set_specific(key, &destroyed));
  };
  body plain = [&] { EXPECT_OK(ABT_self_set_specific(key, &destroyed)); };
  ABT_thread t[] = {new_thread(self_pool(), f), ended_thread(), new_task(es.pool(0), plain),
                    new_thread(es.pool(0), f)};
  EXPECT_OK(ABT_thread_free_many(4, t));
  EXPECT_EQ(destroyed, 3);
  for (const ABT_thread one : t)
    EXPECT_EQ(one, ABT_THREAD_NULL);
}

TEST(ABT_thread_free_many, skips_null_entries) {
  const runtime rt;
  std::atomic<int> ran = 0;
  ABT_thread last = ABT_THREAD_NULL;
  ASSERT_OK(ABT_thread_create(self_pool(), count, &ran, ABT_THREAD_ATTR_NULL, &last));
  ABT_thread t[] = {ABT_THREAD_NULL, ended_thread(), ABT_TASK_NULL, nullptr, last};
  EXPECT_OK(ABT_thread_free_many(5, t));
  EXPECT_EQ(ran, 1);
  EXPECT_OK(ABT_thread_free_many(0, nullptr));
}

TEST(ABT_thread_free_many, from_a_kernel_thread) {
  const runtime rt;
  body f = [] { EXPECT_OK(ABT_thread_yield()); };
  ABT_thread t[] = {new_thread(self_pool(), f), new_thread(self_pool(), f)};
  EXPECT_OK(from_kernel_thread([&] { return ABT_thread_free_many(2, t); }));
}

TEST(ABT_thread_join_many, waits_for_each) {
  const runtime rt;
  const streams es(1);
  std::atomic<int> ended = 0;
  body f = [&] {
    EXPECT_OK(ABT_thread_yield());
    ++ended;
  };
  std::vector<ABT_thread> t;
  for (int i = 0; i < 100; ++i)
    t.push_back(new_thread(i % 2 == 0 ? self_pool() : es.pool(0), f));
  EXPECT_OK(ABT_thread_join_many(100, t.data()));
  EXPECT_EQ(ended, 100);
  for (ABT_thread& one : t) {
    EXPECT_EQ(state_of(one), ABT_THREAD_STATE_TERMINATED);
    EXPECT_OK(ABT_thread_free(&one));
  }
}

TEST(ABT_thread_join_many, skips_null_entries) {
  const runtime rt;
  std::atomic<int> ran = 0;
  ABT_task last = ABT_TASK_NULL;
  ASSERT_OK(ABT_task_create(self_pool(), count, &ran, &last));
  ABT_thread t[] = {ABT_THREAD_NULL, ABT_TASK_NULL, nullptr, last};
  EXPECT_OK(ABT_thread_join_many(4, t));
  EXPECT_EQ(ran, 1);
  EXPECT_OK(ABT_thread_free(&last));
  EXPECT_OK(ABT_thread_join_many(0, nullptr));
}

TEST(ABT_thread_join_many, from_a_kernel_thread) {
  const runtime rt;
  body f = [] { EXPECT_OK(ABT_thread_yield()); };
  ABT_thread t[] = {new_thread(self_pool(), f), new_thread(self_pool(), f)};
  EXPECT_OK(from_kernel_thread([&] { return ABT_thread_join_many(2, t); }));
  free_all({&t[0], &t[1]});
}

} // namespace
} // namespace abt_test
