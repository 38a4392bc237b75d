// SPDX-License-Identifier: MIT
// What can be asked about a thread, from itself and from outside.
#include <set>

#include "units.hpp"

namespace abt_test {
namespace {

// `ask` turns down every null thread with ABT_ERR_INV_THREAD.
void expect_null_refused(const std::function<int(ABT_thread)>& ask) {
  const runtime rt;
  for (const ABT_thread null : null_threads)
    EXPECT_ABT(ABT_ERR_INV_THREAD, ask(null));
}

TEST(ABT_thread_self, is_the_handle_from_create) {
  const runtime rt;
  ABT_thread own = ABT_THREAD_NULL;
  body f = [&] { EXPECT_OK(ABT_thread_self(&own)); };
  ABT_thread t = new_thread(self_pool(), f);
  EXPECT_OK(ABT_thread_join(t));
  EXPECT_EQ(own, t);
  ABT_thread primary = ABT_THREAD_NULL;
  EXPECT_OK(ABT_thread_self(&primary));
  EXPECT_NE(primary, t);
  EXPECT_OK(ABT_thread_free(&t));
}

TEST(ABT_thread_self, refuses_callers_that_are_no_thread) {
  const runtime rt;
  ABT_thread t = untouched<ABT_thread>();
  EXPECT_ABT(ABT_ERR_INV_THREAD, from_tasklet([&] { return ABT_thread_self(&t); }));
  EXPECT_EQ(t, ABT_THREAD_NULL);
  t = untouched<ABT_thread>();
  EXPECT_ABT(ABT_ERR_INV_XSTREAM, from_kernel_thread([&] { return ABT_thread_self(&t); }));
  EXPECT_EQ(t, ABT_THREAD_NULL);
}

TEST(ABT_thread_self, refuses_without_a_runtime) {
  expect_uninitialized([] {
    ABT_thread t = untouched<ABT_thread>();
    const int code = ABT_thread_self(&t);
    EXPECT_EQ(t, ABT_THREAD_NULL);
    return code;
  });
}

TEST(ABT_thread_self_id, is_the_id_of_the_thread) {
  const runtime rt;
  ABT_unit_id own = 0;
  body f = [&] { EXPECT_OK(ABT_thread_self_id(&own)); };
  ABT_thread t = new_thread(self_pool(), f);
  EXPECT_OK(ABT_thread_join(t));
  EXPECT_EQ(own, id_of(t));
  EXPECT_OK(ABT_thread_free(&t));
}

TEST(ABT_thread_self_id, refuses_callers_that_are_no_thread) {
  const runtime rt;
  ABT_unit_id id = 0;
  EXPECT_ABT(ABT_ERR_INV_THREAD, from_tasklet([&] { return ABT_thread_self_id(&id); }));
  EXPECT_ABT(ABT_ERR_INV_XSTREAM, from_kernel_thread([&] { return ABT_thread_self_id(&id); }));
}

TEST(ABT_thread_self_id, refuses_without_a_runtime) {
  expect_uninitialized([] {
    ABT_unit_id id = 0;
    return ABT_thread_self_id(&id);
  });
}

TEST(ABT_thread_get_last_xstream, follows_the_thread) {
  const runtime rt;
  const streams es(2);
  const own_pool nowhere;
  body f = [] {};
  const auto last_of = [](ABT_thread t) {
    ABT_xstream last = untouched<ABT_xstream>();
    EXPECT_OK(ABT_thread_get_last_xstream(t, &last));
    return last;
  };
  ABT_thread t = new_thread(nowhere, f);
  EXPECT_EQ(last_of(t), ABT_XSTREAM_NULL); // never ran
  nowhere.run_all();
  EXPECT_EQ(last_of(t), self_xstream());
  for (std::size_t i = 0; i < 2; ++i) {
    ASSERT_OK(ABT_thread_revive(es.pool(i), run_function, &f, &t));
    EXPECT_OK(ABT_thread_join(t));
    EXPECT_EQ(last_of(t), es[i]);
  }
  EXPECT_OK(ABT_thread_free(&t));
  EXPECT_EQ(last_of(self()), self_xstream());
  EXPECT_OK(from_tasklet([&] {
    EXPECT_EQ(last_of(self()), self_xstream());
    return ABT_SUCCESS;
  }));
}

TEST(ABT_thread_get_last_xstream, refuses_null_thread) {
  ABT_xstream es = ABT_XSTREAM_NULL;
  expect_null_refused([&](ABT_thread t) { return ABT_thread_get_last_xstream(t, &es); });
}

TEST(ABT_thread_get_state, each_state_from_outside) {
  const runtime rt;
  const own_pool pool;
  ABT_thread_state inside = ABT_THREAD_STATE_READY;
  body f = [&] {
    inside = state_of(self());
    EXPECT_OK(ABT_thread_yield());
    EXPECT_OK(ABT_self_suspend());
  };
  ABT_thread t = new_thread(pool, f);
  EXPECT_EQ(state_of(t), ABT_THREAD_STATE_READY);
  EXPECT_OK(ABT_self_schedule(pool.pop(), ABT_POOL_NULL));
  EXPECT_EQ(inside, ABT_THREAD_STATE_RUNNING);
  EXPECT_EQ(state_of(t), ABT_THREAD_STATE_READY); // has yielded
  EXPECT_OK(ABT_self_schedule(pool.pop(), ABT_POOL_NULL));
  EXPECT_EQ(state_of(t), ABT_THREAD_STATE_BLOCKED);
  EXPECT_OK(ABT_thread_resume(t));
  EXPECT_EQ(state_of(t), ABT_THREAD_STATE_READY);
  EXPECT_OK(ABT_self_schedule(pool.pop(), ABT_POOL_NULL));
  EXPECT_EQ(state_of(t), ABT_THREAD_STATE_TERMINATED);
  EXPECT_OK(ABT_thread_free(&t));
}

TEST(ABT_thread_get_state, running_on_another_stream) {
  const runtime rt;
  const streams es(1);
  std::atomic<bool> started = false;
  std::atomic<bool> end = false;
  body f = [&] {
    started = true;
    while (!end)
      std::this_thread::yield(); // keeps its stream
  };
  ABT_thread t = new_thread(es.pool(0), f);
  ABT_task task = new_task(es.pool(0), f);
  yield_until([&] { return started.load(); });
  EXPECT_EQ(state_of(t), ABT_THREAD_STATE_RUNNING);
  EXPECT_EQ(state_of(task), ABT_THREAD_STATE_READY);
  EXPECT_OK(from_kernel_thread([&] {
    EXPECT_EQ(state_of(t), ABT_THREAD_STATE_RUNNING);
    return ABT_SUCCESS;
  }));
  end = true;
  EXPECT_OK(ABT_thread_join(task));
  EXPECT_EQ(state_of(task), ABT_THREAD_STATE_TERMINATED);
  free_all({&t, &task});
}

TEST(ABT_thread_get_state, blocked_in_a_join) {
  const runtime rt;
  const own_pool pool;
  body f = [] {};
  ABT_thread late = new_thread(pool, f);
  body joiner = [&] { EXPECT_OK(ABT_thread_join(late)); };
  ABT_thread t = new_thread(self_pool(), joiner);
  yield_until([&] { return state_of(t) == ABT_THREAD_STATE_BLOCKED; });
  pool.run_all();
  free_all({&t, &late});
}

TEST(ABT_thread_get_state, refuses_null_thread) {
  ABT_thread_state state = ABT_THREAD_STATE_READY;
  expect_null_refused([&](ABT_thread t) { return ABT_thread_get_state(t, &state); });
}

TEST(ABT_thread_get_last_pool, of_every_kind_of_unit) {
  const runtime rt;
  const own_pool pool;
  body f = [&] { EXPECT_EQ(last_pool_of(self()), pool); };
  ABT_thread t = new_thread(pool, f);
  ABT_task task = new_task(pool, f);
  EXPECT_EQ(last_pool_of(t), pool);
  EXPECT_EQ(last_pool_of(task), pool);
  pool.run_all();
  EXPECT_EQ(last_pool_of(t), pool);
  EXPECT_EQ(last_pool_of(self()), self_pool());
  free_all({&t, &task});
}

TEST(ABT_thread_get_last_pool, refuses_null_thread) {
  ABT_pool pool = ABT_POOL_NULL;
  expect_null_refused([&](ABT_thread t) { return ABT_thread_get_last_pool(t, &pool); });
}

TEST(ABT_thread_get_last_pool_id, is_the_id_of_the_pool) {
  const runtime rt;
  const own_pool pool;
  body f = [] {};
  ABT_thread t = new_thread(pool, f);
  int id = -1;
  int pool_id = -2;
  EXPECT_OK(ABT_thread_get_last_pool_id(t, &id));
  EXPECT_OK(ABT_pool_get_id(pool, &pool_id));
  EXPECT_EQ(id, pool_id);
  pool.run_all();
  EXPECT_OK(ABT_thread_free(&t));
}

TEST(ABT_thread_get_last_pool_id, refuses_null_thread) {
  int id = 0;
  expect_null_refused([&](ABT_thread t) { return ABT_thread_get_last_pool_id(t, &id); });
}

TEST(ABT_thread_get_unit, leads_back_to_the_thread) {
  const runtime rt;
  const own_pool pool;
  const user_pool other;
  body f = [] {};
  for (const ABT_pool p : {static_cast<ABT_pool>(pool), static_cast<ABT_pool>(other)}) {
    ABT_thread t = new_thread(p, f);
    ABT_task task = new_task(p, f);
    for (const ABT_thread one : {t, task}) {
      ABT_unit unit = ABT_UNIT_NULL;
      ABT_thread back = ABT_THREAD_NULL;
      EXPECT_OK(ABT_thread_get_unit(one, &unit));
      EXPECT_NE(unit, ABT_UNIT_NULL);
      EXPECT_OK(ABT_unit_get_thread(unit, &back));
      EXPECT_EQ(back, one);
    }
    for (int i = 0; i < 2; ++i) {
      ABT_thread next = ABT_THREAD_NULL;
      EXPECT_OK(ABT_pool_pop_thread(p, &next));
      EXPECT_OK(ABT_self_schedule(next, ABT_POOL_NULL));
    }
    free_all({&t, &task});
  }
}

TEST(ABT_thread_get_unit, refuses_null_thread) {
  ABT_unit unit = ABT_UNIT_NULL;
  expect_null_refused([&](ABT_thread t) { return ABT_thread_get_unit(t, &unit); });
}

TEST(ABT_thread_set_associated_pool, a_popped_thread) {
  const runtime rt;
  const own_pool a;
  const own_pool b;
  body f = [] { EXPECT_OK(ABT_thread_yield()); };
  ABT_thread t = new_thread(a, f);
  EXPECT_EQ(a.pop(), t);
  EXPECT_OK(ABT_thread_set_associated_pool(t, b));
  EXPECT_EQ(last_pool_of(t), b);
  EXPECT_EQ(a.size() + b.size(), 0U); // not pushed
  EXPECT_OK(ABT_self_schedule(t, ABT_POOL_NULL));
  EXPECT_EQ(b.size(), 1U); // where it yields to
  b.run_all();
  EXPECT_OK(ABT_thread_free(&t));
}

TEST(ABT_thread_set_associated_pool, of_users_moves_the_unit) {
  const runtime rt;
  const user_pool a;
  const user_pool b;
  body f = [] {};
  ABT_thread t = new_thread(a, f);
  EXPECT_EQ(a.pop(), t);
  EXPECT_OK(ABT_thread_set_associated_pool(t, b));
  EXPECT_EQ(a.units(), 0);
  EXPECT_EQ(b.units(), 1);
  EXPECT_OK(ABT_thread_set_associated_pool(t, b)); // nothing changes
  EXPECT_EQ(b.made(), 1);
  EXPECT_OK(ABT_self_schedule(t, ABT_POOL_NULL));
  EXPECT_OK(ABT_thread_free(&t));
}

TEST(ABT_thread_set_associated_pool, a_blocked_thread_wakes_in_the_new_pool) {
  const runtime rt;
  const own_pool a;
  const own_pool b;
  body f = [] { EXPECT_OK(ABT_self_suspend()); };
  ABT_thread t = new_thread(a, f);
  a.run_all();
  EXPECT_OK(ABT_thread_set_associated_pool(t, b));
  EXPECT_OK(ABT_thread_resume(t));
  EXPECT_EQ(b.size(), 1U);
  b.run_all();
  EXPECT_OK(ABT_thread_free(&t));
}

TEST(ABT_thread_set_associated_pool, refuses_null_handles) {
  const runtime rt;
  for (const ABT_thread null : null_threads)
    EXPECT_ABT(ABT_ERR_INV_THREAD, ABT_thread_set_associated_pool(null, self_pool()));
  ABT_thread t = ended_thread();
  for (const ABT_pool null : null_pools)
    EXPECT_ABT(ABT_ERR_INV_POOL, ABT_thread_set_associated_pool(t, null));
  EXPECT_OK(ABT_thread_free(&t));
}

TEST(ABT_thread_set_associated_pool, refuses_when_the_pool_makes_no_unit) {
  const runtime rt;
  const own_pool pool;
  const user_pool none(0);
  body f = [] {};
  ABT_thread t = new_thread(pool, f);
  EXPECT_EQ(pool.pop(), t);
  EXPECT_ABT(no_unit_made, ABT_thread_set_associated_pool(t, none));
  EXPECT_EQ(last_pool_of(t), pool);
  EXPECT_OK(ABT_self_schedule(t, ABT_POOL_NULL));
  EXPECT_OK(ABT_thread_free(&t));
}

TEST(ABT_thread_is_primary, of_the_caller_of_init_only) {
  const runtime rt;
  const ABT_thread primary = self();
  ABT_bool flag = ABT_FALSE;
  EXPECT_OK(ABT_thread_is_primary(primary, &flag));
  EXPECT_EQ(flag, ABT_TRUE);
  in_thread([&] {
    EXPECT_OK(ABT_thread_is_primary(primary, &flag));
    EXPECT_EQ(flag, ABT_TRUE);
    EXPECT_OK(ABT_thread_is_primary(self(), &flag));
    EXPECT_EQ(flag, ABT_FALSE);
  });
}

TEST(ABT_thread_is_primary, refuses_null_thread) {
  ABT_bool flag = ABT_FALSE;
  expect_null_refused([&](ABT_thread t) { return ABT_thread_is_primary(t, &flag); });
}

TEST(ABT_thread_is_unnamed, of_threads_without_a_handle) {
  const runtime rt;
  std::atomic<int> answers[2] = {-1, -1};
  const auto ask = [&](int i) {
    return [&, i] {
      ABT_bool flag = -1;
      EXPECT_OK(ABT_thread_is_unnamed(self(), &flag));
      answers[i] = flag;
    };
  };
  body thread = ask(0);
  body task = ask(1);
  ASSERT_OK(ABT_thread_create(self_pool(), run_function, &thread, ABT_THREAD_ATTR_NULL, nullptr));
  ASSERT_OK(ABT_task_create(self_pool(), run_function, &task, nullptr));
  yield_until([&] { return answers[0] != -1 && answers[1] != -1; });
  EXPECT_EQ(answers[0], ABT_TRUE);
  EXPECT_EQ(answers[1], ABT_TRUE);
  ABT_thread named = ended_thread();
  ABT_bool flag = ABT_TRUE;
  EXPECT_OK(ABT_thread_is_unnamed(named, &flag));
  EXPECT_EQ(flag, ABT_FALSE);
  EXPECT_OK(ABT_thread_free(&named));
}

TEST(ABT_thread_is_unnamed, refuses_null_thread) {
  ABT_bool flag = ABT_FALSE;
  expect_null_refused([&](ABT_thread t) { return ABT_thread_is_unnamed(t, &flag); });
}

TEST(ABT_thread_equal, compares_handles_and_nulls) {
  ABT_bool same = ABT_FALSE;
  EXPECT_OK(ABT_thread_equal(ABT_THREAD_NULL, ABT_TASK_NULL, &same)); // also without a runtime
  EXPECT_EQ(same, ABT_TRUE);
  const runtime rt;
  ABT_thread a = ended_thread();
  ABT_thread b = ended_thread();
  EXPECT_OK(ABT_thread_equal(a, b, &same));
  EXPECT_EQ(same, ABT_FALSE);
  EXPECT_OK(ABT_thread_equal(a, a, &same));
  EXPECT_EQ(same, ABT_TRUE);
  EXPECT_OK(ABT_thread_equal(a, ABT_THREAD_NULL, &same));
  EXPECT_EQ(same, ABT_FALSE);
  free_all({&a, &b});
}

TEST(ABT_thread_get_stacksize, of_each_kind) {
  const runtime rt;
  std::size_t by_default = 0;
  std::size_t size = 0;
  EXPECT_OK(ABT_info_query_config(ABT_INFO_QUERY_KIND_DEFAULT_THREAD_STACKSIZE, &by_default));
  ABT_thread t = ended_thread();
  EXPECT_OK(ABT_thread_get_stacksize(t, &size));
  EXPECT_GE(size, by_default);
  ABT_task task = ended_task();
  for (const ABT_thread without : {task, self()}) {
    size = 1;
    EXPECT_OK(ABT_thread_get_stacksize(without, &size));
    EXPECT_EQ(size, 0U);
  }
  free_all({&t, &task});
}

TEST(ABT_thread_get_stacksize, refuses_null_thread) {
  std::size_t size = 0;
  expect_null_refused([&](ABT_thread t) { return ABT_thread_get_stacksize(t, &size); });
}

TEST(ABT_thread_get_stack, holds_the_thread) {
  const runtime rt;
  in_thread([] {
    const char* const here = static_cast<const char*>(__builtin_frame_address(0));
    void* start = nullptr;
    std::size_t size = 0;
    EXPECT_OK(ABT_thread_get_stack(self(), &start, &size));
    EXPECT_GE(here, static_cast<char*>(start));
    EXPECT_LT(here, static_cast<char*>(start) + size);
    void* same_start = nullptr;
    std::size_t same_size = 0;
    EXPECT_OK(ABT_thread_get_stack(self(), &same_start, nullptr));
    EXPECT_OK(ABT_thread_get_stack(self(), nullptr, &same_size));
    EXPECT_OK(ABT_thread_get_stack(self(), nullptr, nullptr));
    EXPECT_EQ(same_start, start);
    EXPECT_EQ(same_size, size);
  });
}

TEST(ABT_thread_get_stack, nothing_for_tasklets_and_the_primary_thread) {
  const runtime rt;
  ABT_task task = ended_task();
  for (const ABT_thread t : {task, self()}) {
    void* start = &task;
    std::size_t size = 1;
    EXPECT_OK(ABT_thread_get_stack(t, &start, &size));
    EXPECT_EQ(start, nullptr);
    EXPECT_EQ(size, 0U);
  }
  EXPECT_OK(ABT_thread_free(&task));
}

TEST(ABT_thread_get_stack, refuses_null_thread) {
  void* start = nullptr;
  std::size_t size = 0;
  expect_null_refused([&](ABT_thread t) { return ABT_thread_get_stack(t, &start, &size); });
}

TEST(ABT_thread_get_id, is_never_used_twice) {
  const runtime rt;
  std::set<ABT_unit_id> ids = {id_of(self())};
  for (int i = 0; i < 500; ++i) {
    ABT_thread t = ended_thread();
    ABT_task task = ended_task();
    ids.insert(id_of(t));
    ids.insert(id_of(task));
    free_all({&t, &task}); // their memory is used again
  }
  EXPECT_EQ(ids.size(), 1001U);
}

TEST(ABT_thread_get_id, refuses_null_thread) {
  ABT_unit_id id = 0;
  expect_null_refused([&](ABT_thread t) { return ABT_thread_get_id(t, &id); });
}

} // namespace
} // namespace abt_test
