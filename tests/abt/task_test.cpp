// SPDX-License-Identifier: MIT
// Tasklets: units that may not block or yield.
#include "units.hpp"

namespace abt_test {
namespace {

// `ask` turns down every null tasklet with `code`.
void expect_null_refused(int code, const std::function<int(ABT_task)>& ask) {
  const runtime rt;
  for (const ABT_task null : null_threads)
    EXPECT_ABT(code, ask(null));
}

TEST(ABT_task_create, runs_in_the_pool) {
  const runtime rt;
  const own_pool pool;
  std::atomic<int> ran = 0;
  ABT_task t = ABT_TASK_NULL;
  ASSERT_OK(ABT_task_create(pool, count, &ran, &t));
  EXPECT_EQ(pool.size(), 1U);
  EXPECT_EQ(ran, 0);
  pool.run_all();
  EXPECT_EQ(ran, 1);
  EXPECT_OK(ABT_task_free(&t));
}

TEST(ABT_task_create, unnamed_frees_itself) {
  const runtime rt;
  std::atomic<int> destroyed = 0;
  const own_key key(count);
  body f = [&] { EXPECT_OK(ABT_self_set_specific(key, &destroyed)); };
  for (int i = 0; i < 100; ++i)
    ASSERT_OK(ABT_task_create(self_pool(), run_function, &f, nullptr));
  yield_until([&] { return destroyed == 100; });
}

TEST(ABT_task_create, from_every_context) {
  const runtime rt;
  const ABT_pool pool = self_pool();
  std::atomic<int> ran = 0;
  ABT_task t[3] = {};
  EXPECT_OK(from_tasklet([&] { return ABT_task_create(pool, count, &ran, &t[0]); }));
  EXPECT_OK(from_kernel_thread([&] { return ABT_task_create(pool, count, &ran, &t[1]); }));
  in_thread([&] { EXPECT_OK(ABT_task_create(pool, count, &ran, &t[2])); });
  free_all({&t[0], &t[1], &t[2]});
  EXPECT_EQ(ran, 3);
}

TEST(ABT_task_create, in_a_user_pool) {
  const runtime rt;
  const user_pool pool;
  std::atomic<int> ran = 0;
  ABT_task t = ABT_TASK_NULL;
  ASSERT_OK(ABT_task_create(pool, count, &ran, &t));
  EXPECT_EQ(pool.units(), 1);
  EXPECT_OK(ABT_self_schedule(pool.pop(), ABT_POOL_NULL));
  EXPECT_OK(ABT_task_free(&t));
  EXPECT_EQ(ran, 1);
}

TEST(ABT_task_create, refuses_null_pool) {
  const runtime rt;
  for (const ABT_pool null : null_pools) {
    ABT_task t = untouched<ABT_task>();
    EXPECT_ABT(ABT_ERR_INV_POOL, ABT_task_create(null, nothing, nullptr, &t));
    EXPECT_EQ(t, ABT_TASK_NULL);
  }
}

TEST(ABT_task_create, refuses_when_the_pool_makes_no_unit) {
  const runtime rt;
  const user_pool pool(0);
  ABT_task t = untouched<ABT_task>();
  EXPECT_ABT(no_unit_made, ABT_task_create(pool, nothing, nullptr, &t));
  EXPECT_EQ(t, ABT_TASK_NULL);
  EXPECT_ABT(no_unit_made, ABT_task_create(pool, nothing, nullptr, nullptr));
}

TEST(ABT_task_create_on_xstream, runs_there) {
  const runtime rt;
  const streams es(2);
  for (std::size_t i = 0; i < 2; ++i) {
    ABT_xstream where = ABT_XSTREAM_NULL;
    body f = [&] { where = self_xstream(); };
    ABT_task t = ABT_TASK_NULL;
    ASSERT_OK(ABT_task_create_on_xstream(es[i], run_function, &f, &t));
    EXPECT_EQ(last_pool_of(t), es.pool(i));
    EXPECT_OK(ABT_task_free(&t));
    EXPECT_EQ(where, es[i]);
  }
}

TEST(ABT_task_create_on_xstream, unnamed) {
  const runtime rt;
  const streams es(1);
  std::atomic<int> ran = 0;
  ASSERT_OK(ABT_task_create_on_xstream(es[0], count, &ran, nullptr));
  yield_until([&] { return ran == 1; });
}

TEST(ABT_task_create_on_xstream, refuses_null_xstream) {
  const runtime rt;
  for (const ABT_xstream null : null_xstreams) {
    ABT_task t = untouched<ABT_task>();
    EXPECT_ABT(ABT_ERR_INV_XSTREAM, ABT_task_create_on_xstream(null, nothing, nullptr, &t));
    EXPECT_EQ(t, ABT_TASK_NULL);
  }
}

TEST(ABT_task_revive, keeps_handle_and_id) {
  const runtime rt;
  const streams es(1);
  std::atomic<int> ran = 0;
  ABT_task t = ended_task();
  const ABT_task handle = t;
  const ABT_unit_id id = id_of(t);
  for (int i = 0; i < 3; ++i) {
    ASSERT_OK(ABT_task_revive(i == 1 ? es.pool(0) : self_pool(), count, &ran, &t));
    EXPECT_OK(ABT_task_join(t));
    EXPECT_EQ(ran, i + 1);
  }
  EXPECT_EQ(t, handle);
  EXPECT_EQ(id_of(t), id);
  EXPECT_OK(ABT_task_free(&t));
}

TEST(ABT_task_revive, refuses_null_handles_and_what_has_not_ended) {
  const runtime rt;
  for (ABT_task null : null_threads)
    EXPECT_ABT(ABT_ERR_INV_TASK, ABT_task_revive(self_pool(), nothing, nullptr, &null));
  body f = [] {};
  ABT_task t = new_task(self_pool(), f);
  EXPECT_ABT(ABT_ERR_INV_TASK, ABT_task_revive(self_pool(), nothing, nullptr, &t));
  EXPECT_OK(ABT_task_join(t));
  for (const ABT_pool null : null_pools)
    EXPECT_ABT(ABT_ERR_INV_POOL, ABT_task_revive(null, nothing, nullptr, &t));
  EXPECT_OK(ABT_task_free(&t));
}

TEST(ABT_task_free, joins_what_has_not_ended) {
  const runtime rt;
  const streams es(1);
  std::atomic<int> ran = 0;
  for (const ABT_pool pool : {self_pool(), es.pool(0)}) {
    ABT_task t = ABT_TASK_NULL;
    ASSERT_OK(ABT_task_create(pool, count, &ran, &t));
    EXPECT_OK(ABT_task_free(&t));
    EXPECT_EQ(t, ABT_TASK_NULL);
  }
  EXPECT_EQ(ran, 2);
}

TEST(ABT_task_free, refuses_null_task_and_the_caller) {
  const runtime rt;
  for (ABT_task null : null_threads)
    EXPECT_ABT(ABT_ERR_INV_TASK, ABT_task_free(&null));
  in_tasklet([] {
    ABT_task own = self();
    EXPECT_ABT(ABT_ERR_INV_TASK, ABT_task_free(&own));
  });
}

TEST(ABT_task_join, from_every_context) {
  const runtime rt;
  const streams es(1);
  std::atomic<int> ran = 0;
  ABT_task t[3] = {};
  for (ABT_task& one : t)
    ASSERT_OK(ABT_task_create(es.pool(0), count, &ran, &one));
  EXPECT_OK(from_tasklet([&] { return ABT_task_join(t[0]); }));
  EXPECT_OK(from_kernel_thread([&] { return ABT_task_join(t[1]); }));
  EXPECT_OK(ABT_task_join(t[2]));
  EXPECT_EQ(ran, 3);
  free_all({&t[0], &t[1], &t[2]});
}

TEST(ABT_task_join, refuses_null_task_and_the_caller) {
  const runtime rt;
  for (const ABT_task null : null_threads)
    EXPECT_ABT(ABT_ERR_INV_TASK, ABT_task_join(null));
  in_tasklet([] { EXPECT_ABT(ABT_ERR_INV_TASK, ABT_task_join(self())); });
}

TEST(ABT_task_cancel, before_the_start) {
  const runtime rt;
  std::atomic<int> ran = 0;
  ABT_task t = ABT_TASK_NULL;
  ASSERT_OK(ABT_task_create(self_pool(), count, &ran, &t));
  EXPECT_OK(ABT_task_cancel(t));
  EXPECT_OK(ABT_task_join(t));
  EXPECT_EQ(ran, 0);
  ABT_task_state state = ABT_TASK_STATE_READY;
  EXPECT_OK(ABT_task_get_state(t, &state));
  EXPECT_EQ(state, ABT_TASK_STATE_TERMINATED);
  EXPECT_OK(ABT_task_free(&t));
}

TEST(ABT_task_cancel, refuses_null_task) {
  expect_null_refused(ABT_ERR_INV_TASK, ABT_task_cancel);
}

TEST(ABT_task_self, is_the_handle_from_create) {
  const runtime rt;
  ABT_task own = ABT_TASK_NULL;
  body f = [&] { EXPECT_OK(ABT_task_self(&own)); };
  ABT_task t = new_task(self_pool(), f);
  EXPECT_OK(ABT_task_join(t));
  EXPECT_EQ(own, t);
  EXPECT_OK(ABT_task_free(&t));
}

TEST(ABT_task_self, refuses_callers_that_are_no_tasklet) {
  const runtime rt;
  ABT_task t = untouched<ABT_task>();
  EXPECT_ABT(ABT_ERR_INV_TASK, ABT_task_self(&t));
  EXPECT_EQ(t, ABT_TASK_NULL);
  t = untouched<ABT_task>();
  EXPECT_ABT(ABT_ERR_INV_XSTREAM, from_kernel_thread([&] { return ABT_task_self(&t); }));
  EXPECT_EQ(t, ABT_TASK_NULL);
}

TEST(ABT_task_self, refuses_without_a_runtime) {
  expect_uninitialized([] {
    ABT_task t = untouched<ABT_task>();
    const int code = ABT_task_self(&t);
    EXPECT_EQ(t, ABT_TASK_NULL);
    return code;
  });
}

TEST(ABT_task_self_id, is_the_id_of_the_tasklet) {
  const runtime rt;
  ABT_unit_id own = 0;
  body f = [&] { EXPECT_OK(ABT_task_self_id(&own)); };
  ABT_task t = new_task(self_pool(), f);
  EXPECT_OK(ABT_task_join(t));
  EXPECT_EQ(own, id_of(t));
  EXPECT_OK(ABT_task_free(&t));
}

TEST(ABT_task_self_id, refuses_callers_that_are_no_tasklet) {
  const runtime rt;
  ABT_unit_id id = 0;
  EXPECT_ABT(ABT_ERR_INV_TASK, ABT_task_self_id(&id));
  EXPECT_ABT(ABT_ERR_INV_XSTREAM, from_kernel_thread([&] { return ABT_task_self_id(&id); }));
}

TEST(ABT_task_self_id, refuses_without_a_runtime) {
  expect_uninitialized([] {
    ABT_unit_id id = 0;
    return ABT_task_self_id(&id);
  });
}

TEST(ABT_task_get_xstream, where_it_ran) {
  const runtime rt;
  const streams es(1);
  const own_pool nowhere;
  body f = [] {};
  ABT_task t = new_task(nowhere, f);
  ABT_xstream last = untouched<ABT_xstream>();
  EXPECT_OK(ABT_task_get_xstream(t, &last));
  EXPECT_EQ(last, ABT_XSTREAM_NULL);
  nowhere.run_all();
  ASSERT_OK(ABT_task_revive(es.pool(0), run_function, &f, &t));
  EXPECT_OK(ABT_task_join(t));
  EXPECT_OK(ABT_task_get_xstream(t, &last));
  EXPECT_EQ(last, es[0]);
  EXPECT_OK(ABT_task_free(&t));
}

TEST(ABT_task_get_xstream, refuses_null_task) {
  ABT_xstream es = ABT_XSTREAM_NULL;
  expect_null_refused(ABT_ERR_INV_TASK, [&](ABT_task t) { return ABT_task_get_xstream(t, &es); });
}

TEST(ABT_task_get_state, has_three_values) {
  const runtime rt;
  const auto state = [](ABT_task t) {
    auto s = static_cast<ABT_task_state>(-1);
    EXPECT_OK(ABT_task_get_state(t, &s));
    return s;
  };
  ABT_task_state inside = ABT_TASK_STATE_READY;
  body f = [&] { inside = state(self()); };
  ABT_task t = new_task(self_pool(), f);
  EXPECT_EQ(state(t), ABT_TASK_STATE_READY);
  EXPECT_OK(ABT_task_join(t));
  EXPECT_EQ(inside, ABT_TASK_STATE_RUNNING);
  EXPECT_EQ(state(t), ABT_TASK_STATE_TERMINATED);
  EXPECT_OK(ABT_task_free(&t));
}

TEST(ABT_task_get_state, refuses_null_task_and_threads) {
  const runtime rt;
  ABT_task_state state = ABT_TASK_STATE_READY;
  for (const ABT_task null : null_threads)
    EXPECT_ABT(ABT_ERR_INV_TASK, ABT_task_get_state(null, &state));
  EXPECT_ABT(ABT_ERR_INV_TASK, ABT_task_get_state(self(), &state));
}

TEST(ABT_task_get_last_pool, is_its_pool) {
  const runtime rt;
  const own_pool pool;
  body f = [] {};
  ABT_task t = new_task(pool, f);
  ABT_pool last = ABT_POOL_NULL;
  EXPECT_OK(ABT_task_get_last_pool(t, &last));
  EXPECT_EQ(last, pool);
  pool.run_all();
  EXPECT_OK(ABT_task_free(&t));
}

TEST(ABT_task_get_last_pool, refuses_null_task) {
  ABT_pool pool = ABT_POOL_NULL;
  expect_null_refused(ABT_ERR_INV_TASK, [&](ABT_task t) { return ABT_task_get_last_pool(t, &pool); });
}

TEST(ABT_task_get_last_pool_id, is_the_id_of_its_pool) {
  const runtime rt;
  ABT_task t = ended_task();
  int id = -1;
  int expected = -2;
  EXPECT_OK(ABT_task_get_last_pool_id(t, &id));
  EXPECT_OK(ABT_pool_get_id(self_pool(), &expected));
  EXPECT_EQ(id, expected);
  EXPECT_OK(ABT_task_free(&t));
}

TEST(ABT_task_get_last_pool_id, refuses_null_task) {
  int id = 0;
  expect_null_refused(ABT_ERR_INV_TASK, [&](ABT_task t) { return ABT_task_get_last_pool_id(t, &id); });
}

TEST(ABT_task_set_migratable, holds_a_tasklet_back) {
  const runtime rt;
  const streams es(1);
  body f = [] {};
  ABT_task t = new_task(self_pool(), f);
  EXPECT_OK(ABT_task_set_migratable(t, ABT_FALSE));
  EXPECT_ABT(ABT_ERR_INV_THREAD, ABT_thread_migrate_to_pool(t, es.pool(0)));
  EXPECT_OK(ABT_task_free(&t));
}

TEST(ABT_task_set_migratable, refuses_null_task) {
  expect_null_refused(ABT_ERR_INV_TASK, [](ABT_task t) { return ABT_task_set_migratable(t, ABT_TRUE); });
}

TEST(ABT_task_is_migratable, true_unless_said_otherwise) {
  const runtime rt;
  ABT_task t = ended_task();
  ABT_bool flag = ABT_FALSE;
  EXPECT_OK(ABT_task_is_migratable(t, &flag));
  EXPECT_EQ(flag, ABT_TRUE);
  EXPECT_OK(ABT_task_set_migratable(t, ABT_FALSE));
  EXPECT_OK(ABT_task_is_migratable(t, &flag));
  EXPECT_EQ(flag, ABT_FALSE);
  EXPECT_OK(ABT_task_free(&t));
}

TEST(ABT_task_is_migratable, refuses_null_task) {
  ABT_bool flag = ABT_FALSE;
  expect_null_refused(ABT_ERR_INV_TASK, [&](ABT_task t) { return ABT_task_is_migratable(t, &flag); });
}

TEST(ABT_task_equal, compares_handles_and_nulls) {
  const runtime rt;
  ABT_task a = ended_task();
  ABT_task b = ended_task();
  ABT_bool same = ABT_FALSE;
  EXPECT_OK(ABT_task_equal(a, a, &same));
  EXPECT_EQ(same, ABT_TRUE);
  EXPECT_OK(ABT_task_equal(a, b, &same));
  EXPECT_EQ(same, ABT_FALSE);
  EXPECT_OK(ABT_task_equal(ABT_TASK_NULL, ABT_THREAD_NULL, &same));
  EXPECT_EQ(same, ABT_TRUE);
  EXPECT_OK(ABT_task_equal(ABT_TASK_NULL, a, &same));
  EXPECT_EQ(same, ABT_FALSE);
  free_all({&a, &b});
}

TEST(ABT_task_get_id, differs_from_all_others) {
  const runtime rt;
  ABT_task t = ended_task();
  ABT_thread thread = ended_thread();
  ABT_unit_id id = 0;
  EXPECT_OK(ABT_task_get_id(t, &id));
  EXPECT_NE(id, id_of(thread));
  EXPECT_NE(id, id_of(self()));
  free_all({&t, &thread});
}

TEST(ABT_task_get_id, refuses_null_task) {
  ABT_unit_id id = 0;
  expect_null_refused(ABT_ERR_INV_TASK, [&](ABT_task t) { return ABT_task_get_id(t, &id); });
}

TEST(ABT_task_get_arg, is_what_create_was_given) {
  const runtime rt;
  std::atomic<int> ran = 0;
  ABT_task t = ABT_TASK_NULL;
  ASSERT_OK(ABT_task_create(self_pool(), count, &ran, &t));
  void* arg = nullptr;
  EXPECT_OK(ABT_task_get_arg(t, &arg));
  EXPECT_EQ(arg, &ran);
  EXPECT_OK(ABT_task_free(&t));
}

TEST(ABT_task_get_arg, refuses_null_task) {
  void* arg = nullptr;
  expect_null_refused(ABT_ERR_INV_TASK, [&](ABT_task t) { return ABT_task_get_arg(t, &arg); });
}

} // namespace
} // namespace abt_test
