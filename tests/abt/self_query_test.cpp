// SPDX-License-Identifier: MIT
// What a unit asks about itself.
#include "units.hpp"

namespace abt_test {
namespace {

using function = void (*)(void*);

// `ask` finds no unit in a kernel thread that the runtime does not know.
void expect_foreign_refused(const std::function<int()>& ask) {
  const runtime rt;
  EXPECT_ABT(ABT_ERR_INV_XSTREAM, from_kernel_thread(ask));
}
// Runs `check` in a ULT, in a tasklet, and in both on another stream.
void in_each_unit(const body& check) {
  const streams es(1);
  for (const ABT_pool pool : {self_pool(), es.pool(0)}) {
    in_thread(check, pool);
    in_tasklet(check, pool);
  }
}

TEST(ABT_self_get_xstream, of_units_of_every_stream) {
  const runtime rt;
  const streams es(2);
  for (std::size_t i = 0; i < 2; ++i) {
    const auto check = [&] {
      ABT_xstream own = ABT_XSTREAM_NULL;
      EXPECT_OK(ABT_self_get_xstream(&own));
      EXPECT_EQ(own, es[i]);
    };
    in_thread(check, es.pool(i));
    in_tasklet(check, es.pool(i));
    ABT_xstream mine = ABT_XSTREAM_NULL;
    EXPECT_OK(ABT_self_get_xstream(&mine));
    EXPECT_NE(mine, es[i]);
  }
}

TEST(ABT_self_get_xstream, refuses_foreign_threads) {
  ABT_xstream es = ABT_XSTREAM_NULL;
  expect_foreign_refused([&] { return ABT_self_get_xstream(&es); });
}

TEST(ABT_self_get_xstream_rank, is_the_rank_of_the_stream) {
  const runtime rt;
  int rank = -1;
  EXPECT_OK(ABT_self_get_xstream_rank(&rank));
  EXPECT_EQ(rank, 0);
  in_each_unit([] {
    int own = -1;
    int expected = -2;
    EXPECT_OK(ABT_self_get_xstream_rank(&own));
    EXPECT_OK(ABT_xstream_get_rank(self_xstream(), &expected));
    EXPECT_EQ(own, expected);
  });
}

TEST(ABT_self_get_xstream_rank, refuses_foreign_threads) {
  int rank = 0;
  expect_foreign_refused([&] { return ABT_self_get_xstream_rank(&rank); });
}

TEST(ABT_self_get_thread, is_the_handle_from_create) {
  const runtime rt;
  ABT_thread own = ABT_THREAD_NULL;
  body f = [&] { EXPECT_OK(ABT_self_get_thread(&own)); };
  ABT_thread t = new_thread(self_pool(), f);
  EXPECT_OK(ABT_thread_join(t));
  EXPECT_EQ(own, t);
  ABT_task task = new_task(self_pool(), f);
  EXPECT_OK(ABT_thread_join(task));
  EXPECT_EQ(own, task);
  free_all({&t, &task});
}

TEST(ABT_self_get_thread, the_handle_serves_to_ask_about_oneself) {
  const runtime rt;
  const own_key key;
  const attributes attr;
  int place = 0;
  body f = [&] {
    const ABT_thread t = self();
    EXPECT_EQ(state_of(t), ABT_THREAD_STATE_RUNNING);
    EXPECT_EQ(last_pool_of(t), self_pool());
    ABT_xstream es = ABT_XSTREAM_NULL;
    EXPECT_OK(ABT_thread_get_last_xstream(t, &es));
    EXPECT_EQ(es, self_xstream());
    ABT_unit unit = ABT_UNIT_NULL;
    ABT_thread back = ABT_THREAD_NULL;
    EXPECT_OK(ABT_thread_get_unit(t, &unit));
    EXPECT_OK(ABT_unit_get_thread(unit, &back));
    EXPECT_EQ(back, t);
    EXPECT_OK(ABT_thread_set_specific(t, key, &place));
    void* value = nullptr;
    EXPECT_OK(ABT_self_get_specific(key, &value));
    EXPECT_EQ(value, &place);
    void* arg = nullptr;
    EXPECT_OK(ABT_thread_get_arg(t, &arg));
    EXPECT_EQ(arg, &f);
    EXPECT_OK(ABT_thread_set_migratable(t, ABT_FALSE));
    ABT_bool flag = ABT_TRUE;
    EXPECT_OK(ABT_thread_is_migratable(t, &flag));
    EXPECT_EQ(flag, ABT_FALSE);
    EXPECT_OK(ABT_thread_equal(t, self(), &flag));
    EXPECT_EQ(flag, ABT_TRUE);
    EXPECT_ABT(ABT_ERR_THREAD, ABT_thread_resume(t));
    EXPECT_ABT(ABT_ERR_INV_THREAD, ABT_thread_join(t));
    EXPECT_ABT(ABT_ERR_INV_THREAD, ABT_thread_yield_to(t));
    EXPECT_ABT(ABT_ERR_INV_THREAD, ABT_self_yield_to(t));
  };
  ABT_thread t = new_thread(self_pool(), f, attr);
  EXPECT_OK(ABT_thread_free(&t));
}

TEST(ABT_self_get_thread, refuses_foreign_threads) {
  ABT_thread t = ABT_THREAD_NULL;
  expect_foreign_refused([&] { return ABT_self_get_thread(&t); });
}

TEST(ABT_self_get_thread_id, is_the_id_of_the_unit) {
  const runtime rt;
  in_each_unit([] {
    ABT_unit_id own = 0;
    EXPECT_OK(ABT_self_get_thread_id(&own));
    EXPECT_EQ(own, id_of(self()));
  });
}

TEST(ABT_self_get_thread_id, refuses_foreign_threads) {
  ABT_unit_id id = 0;
  expect_foreign_refused([&] { return ABT_self_get_thread_id(&id); });
}

TEST(ABT_self_set_specific, is_seen_from_outside) {
  const runtime rt;
  const own_key key;
  int place = 0;
  body f = [&] { EXPECT_OK(ABT_self_set_specific(key, &place)); };
  for (ABT_thread t : {new_thread(self_pool(), f), static_cast<ABT_thread>(new_task(self_pool(), f))}) {
    EXPECT_OK(ABT_thread_join(t));
    void* value = nullptr;
    EXPECT_OK(ABT_thread_get_specific(t, key, &value));
    EXPECT_EQ(value, &place);
    EXPECT_OK(ABT_thread_free(&t));
  }
}

TEST(ABT_self_set_specific, refuses_null_key) {
  const runtime rt;
  for (const ABT_key null : null_keys)
    EXPECT_ABT(ABT_ERR_INV_KEY, ABT_self_set_specific(null, nullptr));
}

TEST(ABT_self_set_specific, refuses_foreign_threads) {
  const runtime rt;
  const own_key key;
  EXPECT_ABT(ABT_ERR_INV_XSTREAM, from_kernel_thread([&] { return ABT_self_set_specific(key, nullptr); }));
}

TEST(ABT_self_get_specific, null_until_set_and_kept_across_switches) {
  const runtime rt;
  const streams es(1);
  const own_key key;
  in_thread([&] {
    int place = 0;
    void* value = &place;
    EXPECT_OK(ABT_self_get_specific(key, &value));
    EXPECT_EQ(value, nullptr);
    EXPECT_OK(ABT_self_set_specific(key, &place));
    EXPECT_OK(ABT_thread_migrate_to_xstream(self(), es[0]));
    EXPECT_OK(ABT_thread_yield());
    EXPECT_OK(ABT_self_get_specific(key, &value));
    EXPECT_EQ(value, &place);
  });
}

TEST(ABT_self_get_specific, refuses_null_key) {
  const runtime rt;
  void* value = nullptr;
  for (const ABT_key null : null_keys)
    EXPECT_ABT(ABT_ERR_INV_KEY, ABT_self_get_specific(null, &value));
}

TEST(ABT_self_get_specific, refuses_foreign_threads) {
  const runtime rt;
  const own_key key;
  void* value = nullptr;
  EXPECT_ABT(ABT_ERR_INV_XSTREAM, from_kernel_thread([&] { return ABT_self_get_specific(key, &value); }));
}

TEST(ABT_self_get_type, of_each_kind) {
  const runtime rt;
  ABT_unit_type type = ABT_UNIT_TYPE_EXT;
  EXPECT_OK(ABT_self_get_type(&type));
  EXPECT_EQ(type, ABT_UNIT_TYPE_THREAD);
  in_thread([&] { EXPECT_OK(ABT_self_get_type(&(type = ABT_UNIT_TYPE_EXT))); });
  EXPECT_EQ(type, ABT_UNIT_TYPE_THREAD);
  in_tasklet([&] { EXPECT_OK(ABT_self_get_type(&type)); });
  EXPECT_EQ(type, ABT_UNIT_TYPE_TASK);
}

TEST(ABT_self_get_type, refuses_foreign_threads) {
  ABT_unit_type type = ABT_UNIT_TYPE_THREAD;
  expect_foreign_refused([&] { return ABT_self_get_type(&type); });
  EXPECT_EQ(type, ABT_UNIT_TYPE_EXT);
}

TEST(ABT_self_get_type, refuses_without_a_runtime) {
  expect_uninitialized([] {
    ABT_unit_type type = ABT_UNIT_TYPE_THREAD;
    const int code = ABT_self_get_type(&type);
    EXPECT_EQ(type, ABT_UNIT_TYPE_EXT);
    return code;
  });
}

TEST(ABT_self_is_primary, of_the_caller_of_init_only) {
  const runtime rt;
  ABT_bool flag = ABT_FALSE;
  EXPECT_OK(ABT_self_is_primary(&flag));
  EXPECT_EQ(flag, ABT_TRUE);
  in_thread([&] { EXPECT_OK(ABT_self_is_primary(&flag)); });
  EXPECT_EQ(flag, ABT_FALSE);
}

TEST(ABT_self_is_primary, refuses_callers_that_are_no_thread) {
  const runtime rt;
  ABT_bool flag = ABT_TRUE;
  EXPECT_ABT(ABT_ERR_INV_THREAD, from_tasklet([&] { return ABT_self_is_primary(&flag); }));
  EXPECT_EQ(flag, ABT_FALSE);
  flag = ABT_TRUE;
  EXPECT_ABT(ABT_ERR_INV_XSTREAM, from_kernel_thread([&] { return ABT_self_is_primary(&flag); }));
  EXPECT_EQ(flag, ABT_FALSE);
}

TEST(ABT_self_is_primary, refuses_without_a_runtime) {
  expect_uninitialized([] {
    ABT_bool flag = ABT_TRUE;
    const int code = ABT_self_is_primary(&flag);
    EXPECT_EQ(flag, ABT_FALSE);
    return code;
  });
}

TEST(ABT_self_on_primary_xstream, depends_on_the_stream) {
  const runtime rt;
  const streams es(1);
  ABT_bool flag = ABT_FALSE;
  const auto ask = [&] { EXPECT_OK(ABT_self_on_primary_xstream(&flag)); };
  ask();
  EXPECT_EQ(flag, ABT_TRUE);
  in_thread(ask, es.pool(0));
  EXPECT_EQ(flag, ABT_FALSE);
  in_tasklet(ask);
  EXPECT_EQ(flag, ABT_TRUE);
  in_tasklet(ask, es.pool(0));
  EXPECT_EQ(flag, ABT_FALSE);
}

TEST(ABT_self_on_primary_xstream, refuses_foreign_threads) {
  ABT_bool flag = ABT_TRUE;
  expect_foreign_refused([&] { return ABT_self_on_primary_xstream(&flag); });
  EXPECT_EQ(flag, ABT_FALSE);
}

TEST(ABT_self_on_primary_xstream, refuses_without_a_runtime) {
  expect_uninitialized([] {
    ABT_bool flag = ABT_TRUE;
    const int code = ABT_self_on_primary_xstream(&flag);
    EXPECT_EQ(flag, ABT_FALSE);
    return code;
  });
}

TEST(ABT_self_is_unnamed, of_units_without_a_handle) {
  const runtime rt;
  std::atomic<int> answer = -1;
  body f = [&] {
    ABT_bool flag = -1;
    EXPECT_OK(ABT_self_is_unnamed(&flag));
    answer = flag;
  };
  in_thread(f);
  EXPECT_EQ(answer, ABT_FALSE);
  in_tasklet(f);
  EXPECT_EQ(answer, ABT_FALSE);
  f();
  EXPECT_EQ(answer, ABT_TRUE); // the primary thread: nobody frees it
  answer = -1;
  ASSERT_OK(ABT_thread_create(self_pool(), run_function, &f, ABT_THREAD_ATTR_NULL, nullptr));
  yield_until([&] { return answer == ABT_TRUE; });
  answer = -1;
  ASSERT_OK(ABT_task_create(self_pool(), run_function, &f, nullptr));
  yield_until([&] { return answer == ABT_TRUE; });
}

TEST(ABT_self_is_unnamed, refuses_foreign_threads) {
  ABT_bool flag = ABT_FALSE;
  expect_foreign_refused([&] { return ABT_self_is_unnamed(&flag); });
}

TEST(ABT_self_get_last_pool, is_the_pool_of_the_unit) {
  const runtime rt;
  const own_pool pool;
  body f = [&] {
    ABT_pool own = ABT_POOL_NULL;
    EXPECT_OK(ABT_self_get_last_pool(&own));
    EXPECT_EQ(own, pool);
  };
  ABT_thread t = new_thread(pool, f);
  ABT_task task = new_task(pool, f);
  pool.run_all();
  free_all({&t, &task});
}

TEST(ABT_self_get_last_pool, refuses_foreign_threads) {
  ABT_pool pool = ABT_POOL_NULL;
  expect_foreign_refused([&] { return ABT_self_get_last_pool(&pool); });
}

TEST(ABT_self_get_last_pool_id, is_the_id_of_the_pool) {
  const runtime rt;
  in_each_unit([] {
    int own = -1;
    int expected = -2;
    EXPECT_OK(ABT_self_get_last_pool_id(&own));
    EXPECT_OK(ABT_pool_get_id(last_pool_of(self()), &expected));
    EXPECT_EQ(own, expected);
  });
}

TEST(ABT_self_get_last_pool_id, refuses_foreign_threads) {
  int id = 0;
  expect_foreign_refused([&] { return ABT_self_get_last_pool_id(&id); });
  EXPECT_EQ(id, -1);
}

TEST(ABT_self_get_last_pool_id, refuses_without_a_runtime) {
  expect_uninitialized([] {
    int id = 0;
    const int code = ABT_self_get_last_pool_id(&id);
    EXPECT_EQ(id, -1);
    return code;
  });
}

TEST(ABT_self_set_associated_pool, the_next_yield_goes_there) {
  const runtime rt;
  const streams es(1);
  const ABT_xstream home = self_xstream();
  in_thread([&] {
    EXPECT_OK(ABT_self_set_associated_pool(es.pool(0)));
    EXPECT_EQ(self_xstream(), home);
    EXPECT_EQ(last_pool_of(self()), es.pool(0));
    EXPECT_OK(ABT_self_yield());
    EXPECT_EQ(self_xstream(), es[0]);
  });
}

TEST(ABT_self_set_associated_pool, of_users_moves_the_unit) {
  const runtime rt;
  const user_pool a;
  const user_pool b;
  body f = [&] {
    EXPECT_OK(ABT_self_set_associated_pool(b));
    EXPECT_EQ(a.units(), 0);
    EXPECT_EQ(b.units(), 1);
    EXPECT_OK(ABT_self_yield());
  };
  ABT_thread t = new_thread(a, f);
  EXPECT_OK(ABT_self_schedule(a.pop(), ABT_POOL_NULL));
  EXPECT_EQ(b.size(), 1U);
  EXPECT_OK(ABT_self_schedule(b.pop(), ABT_POOL_NULL));
  EXPECT_OK(ABT_thread_free(&t));
}

TEST(ABT_self_set_associated_pool, refuses_null_pool) {
  const runtime rt;
  for (const ABT_pool null : null_pools)
    EXPECT_ABT(ABT_ERR_INV_POOL, ABT_self_set_associated_pool(null));
}

TEST(ABT_self_set_associated_pool, refuses_foreign_threads) {
  const runtime rt;
  const own_pool pool;
  EXPECT_ABT(ABT_ERR_INV_XSTREAM, from_kernel_thread([&] { return ABT_self_set_associated_pool(pool); }));
}

TEST(ABT_self_set_associated_pool, refuses_when_the_pool_makes_no_unit) {
  const runtime rt;
  const user_pool pool(0);
  in_thread([&] {
    EXPECT_ABT(no_unit_made, ABT_self_set_associated_pool(pool));
    EXPECT_EQ(last_pool_of(self()), self_pool());
    EXPECT_OK(ABT_self_yield());
  });
}

TEST(ABT_self_get_unit, leads_back_to_the_caller) {
  const runtime rt;
  in_each_unit([] {
    ABT_unit unit = ABT_UNIT_NULL;
    ABT_unit expected = ABT_UNIT_NULL;
    ABT_thread back = ABT_THREAD_NULL;
    EXPECT_OK(ABT_self_get_unit(&unit));
    EXPECT_OK(ABT_thread_get_unit(self(), &expected));
    EXPECT_EQ(unit, expected);
    EXPECT_OK(ABT_unit_get_thread(unit, &back));
    EXPECT_EQ(back, self());
  });
}

TEST(ABT_self_get_unit, refuses_foreign_threads) {
  ABT_unit unit = ABT_UNIT_NULL;
  expect_foreign_refused([&] { return ABT_self_get_unit(&unit); });
}

TEST(ABT_self_set_arg, is_what_the_handle_shows) {
  const runtime rt;
  int place = 0;
  body f = [&] { EXPECT_OK(ABT_self_set_arg(&place)); };
  for (ABT_thread t : {new_thread(self_pool(), f), static_cast<ABT_thread>(new_task(self_pool(), f))}) {
    EXPECT_OK(ABT_thread_join(t));
    void* arg = nullptr;
    EXPECT_OK(ABT_thread_get_arg(t, &arg));
    EXPECT_EQ(arg, &place);
    EXPECT_OK(ABT_thread_free(&t));
  }
}

TEST(ABT_self_set_arg, refuses_foreign_threads) {
  expect_foreign_refused([] { return ABT_self_set_arg(nullptr); });
}

TEST(ABT_self_set_arg, refuses_without_a_runtime) {
  expect_uninitialized([] { return ABT_self_set_arg(nullptr); });
}

TEST(ABT_self_get_arg, is_what_create_was_given) {
  const runtime rt;
  const function f = [](void* place) {
    void* arg = nullptr;
    EXPECT_OK(ABT_self_get_arg(&arg));
    EXPECT_EQ(arg, place);
    *static_cast<bool*>(place) = true;
  };
  bool thread = false;
  bool tasklet = false;
  ABT_thread t = ABT_THREAD_NULL;
  ABT_task task = ABT_TASK_NULL;
  ASSERT_OK(ABT_thread_create(self_pool(), f, &thread, ABT_THREAD_ATTR_NULL, &t));
  ASSERT_OK(ABT_task_create(self_pool(), f, &tasklet, &task));
  free_all({&t, &task});
  EXPECT_TRUE(thread);
  EXPECT_TRUE(tasklet);
}

TEST(ABT_self_get_arg, refuses_foreign_threads) {
  int place = 0;
  void* arg = &place;
  expect_foreign_refused([&] { return ABT_self_get_arg(&arg); });
  EXPECT_EQ(arg, nullptr);
}

TEST(ABT_self_get_arg, refuses_without_a_runtime) {
  expect_uninitialized([] {
    int place = 0;
    void* arg = &place;
    const int code = ABT_self_get_arg(&arg);
    EXPECT_EQ(arg, nullptr);
    return code;
  });
}

TEST(ABT_self_get_thread_func, is_what_create_was_given) {
  const runtime rt;
  in_each_unit([] {
    function f = nullptr;
    EXPECT_OK(ABT_self_get_thread_func(&f));
    EXPECT_EQ(f, &run_function);
  });
}

TEST(ABT_self_get_thread_func, refuses_foreign_threads) {
  function f = nullptr;
  expect_foreign_refused([&] { return ABT_self_get_thread_func(&f); });
}

} // namespace
} // namespace abt_test
