// SPDX-License-Identifier: MIT
// The interface planned for 2.0. Whether it is on is the library's choice: a program that defines the macro
// by itself must still get the struct that its library reads. What the planned interface changes for pools
// is tested if the library was built for it.
#define ABT_ENABLE_VER_20_API 1

#include <cstddef>

#include "abt_test.hpp"
#include "user_defs.hpp"

#ifdef ABT_ENABLE_VER_20_API
#define ABT_TEST_20 1
#else
#define ABT_TEST_20 0
#endif

namespace {

using namespace abt_test;

constexpr std::size_t callbacks_in_def = ABT_TEST_20 ? 16 : 15;

static_assert(offsetof(ABT_pool_def, u_create_from_thread) == 40);
static_assert(offsetof(ABT_pool_def, p_pop) == 88);
static_assert(offsetof(ABT_pool_def, p_pop_timedwait) == (ABT_TEST_20 ? 104 : 96));
static_assert(sizeof(ABT_pool_def) == 8 + callbacks_in_def * sizeof(void*));

#if ABT_TEST_20
ABT_unit old_pop_wait(ABT_pool pool, double seconds) {
  return old_pop_timedwait(pool, ABT_get_wtime() + seconds);
}
#endif

ABT_pool_def full_def() {
  ABT_pool_def def = make_old_def(callbacks::all);
#if ABT_TEST_20
  def.p_pop_wait = old_pop_wait;
#endif
  return def;
}

TEST(ABT_pool_create, reads_the_struct_of_its_version) {
  const runtime rt;
  user_fifo fifo;
  ABT_pool_def def = full_def();
  ABT_pool pool = make_pool_of(fifo, &def);
  EXPECT_EQ(fifo.inits, 1);
  ABT_xstream es = ABT_XSTREAM_NULL;
  ASSERT_OK(ABT_xstream_create_basic(ABT_SCHED_BASIC, 1, &pool, ABT_SCHED_CONFIG_NULL, &es));
  EXPECT_EQ(run_many(pool, 100), 200);
  EXPECT_OK(ABT_xstream_free(&es));
  EXPECT_OK(ABT_pool_free(&pool));
  EXPECT_EQ(fifo.frees, 1);
  EXPECT_EQ(old_style_units, 0);
}

// Each callback after p_pop must be found where the struct of this version has it.
TEST(ABT_pool_create, finds_the_last_callbacks) {
  const runtime rt;
  user_fifo fifo;
  ABT_pool_def def = full_def();
  ABT_pool pool = make_pool_of(fifo, &def);
  body nothing = [] {};
  ABT_thread t = make_thread(pool, nothing);
  ABT_unit unit = ABT_UNIT_NULL;
  EXPECT_OK(ABT_thread_get_unit(t, &unit));
  int seen = 0;
  EXPECT_OK(ABT_pool_print_all(pool, &seen, [](void* count, ABT_unit) { ++*static_cast<int*>(count); }));
  EXPECT_EQ(seen, 1);
  EXPECT_OK(ABT_pool_remove(pool, unit));
  EXPECT_EQ(fifo.size(), 0U);
  EXPECT_OK(ABT_pool_push(pool, unit));
  ABT_thread popped = ABT_THREAD_NULL;
  EXPECT_OK(ABT_pool_pop_thread(pool, &popped));
  EXPECT_EQ(popped, t);
  EXPECT_OK(ABT_self_schedule(popped, ABT_POOL_NULL));
  EXPECT_OK(ABT_thread_free(&t));
  EXPECT_OK(ABT_pool_free(&pool));
}

#if ABT_TEST_20
TEST(ABT_pool_pop_wait, calls_the_new_callback) {
  const runtime rt;
  user_fifo fifo;
  ABT_pool_def def = full_def();
  ABT_pool pool = make_pool_of(fifo, &def);
  ABT_unit unit = nullptr;
  EXPECT_OK(ABT_pool_pop_wait(pool, &unit, 0.001));
  EXPECT_EQ(unit, ABT_UNIT_NULL);
  EXPECT_EQ(fifo.pop_waits, 1);
  EXPECT_OK(ABT_pool_free(&pool));
}

TEST(ABT_pool_create_basic, refuses_and_leaves_the_handle) {
  const runtime rt;
  ABT_pool pool = self_pool();
  EXPECT_ABT(ABT_ERR_INV_POOL_KIND,
             ABT_pool_create_basic(static_cast<ABT_pool_kind>(3), ABT_POOL_ACCESS_MPMC, ABT_FALSE, &pool));
  EXPECT_EQ(pool, self_pool());
}
#else
TEST(ABT_pool_pop_wait, refuses_old_definitions_with_every_callback) {
  const runtime rt;
  user_fifo fifo;
  ABT_pool_def def = full_def();
  ABT_pool pool = make_pool_of(fifo, &def);
  ABT_unit unit = nullptr;
  EXPECT_ABT(ABT_ERR_POOL, ABT_pool_pop_wait(pool, &unit, 0.0));
  EXPECT_EQ(unit, ABT_UNIT_NULL);
  EXPECT_OK(ABT_pool_free(&pool));
}
#endif

} // namespace
