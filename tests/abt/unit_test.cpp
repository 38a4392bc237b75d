// SPDX-License-Identifier: MIT
// Units are how pools see threads and tasklets.
#include "units.hpp"

namespace abt_test {
namespace {

ABT_unit unit_of(ABT_thread t) {
  ABT_unit unit = ABT_UNIT_NULL;
  EXPECT_OK(ABT_thread_get_unit(t, &unit));
  return unit;
}
ABT_thread thread_of(ABT_unit unit) {
  ABT_thread t = ABT_THREAD_NULL;
  EXPECT_OK(ABT_unit_get_thread(unit, &t));
  return t;
}

TEST(ABT_unit_get_thread, of_a_pool_of_the_library) {
  const runtime rt;
  const own_pool pool;
  body f = [] {};
  ABT_thread t = new_thread(pool, f);
  ABT_task task = new_task(pool, f);
  for (const ABT_thread expected : {t, static_cast<ABT_thread>(task)}) {
    ABT_unit popped = ABT_UNIT_NULL;
    EXPECT_OK(ABT_pool_pop(pool, &popped));
    EXPECT_EQ(thread_of(popped), expected);
    EXPECT_OK(ABT_self_schedule(expected, ABT_POOL_NULL));
    EXPECT_OK(from_kernel_thread([&] {
      EXPECT_EQ(thread_of(popped), expected); // as long as the thread is not freed
      return ABT_SUCCESS;
    }));
  }
  free_all({&t, &task});
}

TEST(ABT_unit_get_thread, of_pools_of_users) {
  const runtime rt;
  const user_pool a;
  const user_pool b;
  body f = [] {};
  std::vector<ABT_thread> t;
  for (int i = 0; i < 300; ++i) // more than one to a slot of a hash table
    t.push_back(new_thread(i % 2 == 0 ? a : b, f));
  for (const ABT_thread one : t)
    EXPECT_EQ(thread_of(unit_of(one)), one);
  for (const user_pool* pool : {&a, &b}) {
    for (ABT_thread next = pool->pop(); next != ABT_THREAD_NULL; next = pool->pop())
      EXPECT_OK(ABT_self_schedule(next, ABT_POOL_NULL));
  }
  for (ABT_thread& one : t)
    EXPECT_OK(ABT_thread_free(&one));
}

TEST(ABT_unit_get_thread, refuses_null_unit) {
  const runtime rt;
  for (const ABT_unit null : null_units) {
    ABT_thread t = ABT_THREAD_NULL;
    EXPECT_ABT(ABT_ERR_INV_UNIT, ABT_unit_get_thread(null, &t));
  }
}

TEST(ABT_unit_set_associated_pool, does_nothing) {
  const runtime rt;
  const own_pool a;
  const own_pool b;
  body f = [] {};
  ABT_thread t = new_thread(a, f);
  EXPECT_EQ(a.pop(), t);
  EXPECT_OK(ABT_unit_set_associated_pool(unit_of(t), b));
  EXPECT_EQ(last_pool_of(t), a);
  EXPECT_OK(ABT_self_schedule(t, ABT_POOL_NULL));
  EXPECT_OK(ABT_thread_free(&t));
}

TEST(ABT_unit_set_associated_pool, refuses_null_handles) {
  const runtime rt;
  for (const ABT_unit null : null_units)
    EXPECT_ABT(ABT_ERR_INV_UNIT, ABT_unit_set_associated_pool(null, self_pool()));
  for (const ABT_pool null : null_pools)
    EXPECT_ABT(ABT_ERR_INV_POOL, ABT_unit_set_associated_pool(unit_of(self()), null));
}

} // namespace
} // namespace abt_test
