// SPDX-License-Identifier: MIT
// The rest of a ULT's life: revived, joined, freed, ended, cancelled.
#include "units.hpp"

namespace abt_test {
namespace {

TEST(ABT_thread_revive, keeps_what_the_thread_has) {
  const runtime rt;
  const own_pool pool;
  std::atomic<int> destroyed = 0;
  std::atomic<int> ran = 0;
  const own_key key(count);
  const sized_attributes attr(100 << 10);
  body first = [&] { EXPECT_OK(ABT_self_set_specific(key, &destroyed)); };
  void* stack = nullptr;
  ABT_thread t = new_thread(self_pool(), first, attr);
  EXPECT_OK(ABT_thread_join(t));
  const ABT_thread handle = t;
  const ABT_unit_id id = id_of(t);
  EXPECT_OK(ABT_thread_get_stack(t, &stack, nullptr));
  for (int i = 0; i < 3; ++i) {
    ASSERT_OK(ABT_thread_revive(pool, count, &ran, &t));
    EXPECT_EQ(t, handle);
    EXPECT_EQ(state_of(t), ABT_THREAD_STATE_READY);
    EXPECT_EQ(last_pool_of(t), pool);
    pool.run_all();
    EXPECT_EQ(state_of(t), ABT_THREAD_STATE_TERMINATED);
    EXPECT_EQ(ran, i + 1);
  }
  EXPECT_EQ(id_of(t), id);
  void* same_stack = nullptr;
  EXPECT_OK(ABT_thread_get_stack(t, &same_stack, nullptr));
  EXPECT_EQ(same_stack, stack);
  void* value = nullptr;
  EXPECT_OK(ABT_thread_get_specific(t, key, &value));
  EXPECT_EQ(value, &destroyed);
  EXPECT_EQ(destroyed, 0); // only now:
  EXPECT_OK(ABT_thread_free(&t));
  EXPECT_EQ(destroyed, 1);
}

TEST(ABT_thread_revive, after_cancel_and_exit_and_from_a_kernel_thread) {
  const runtime rt;
  const streams es(1);
  std::atomic<int> ran = 0;
  body leaves = [] { EXPECT_OK(ABT_self_exit()); };
  ABT_thread t = new_thread(es.pool(0), leaves);
  EXPECT_OK(ABT_thread_join(t));
  const ABT_pool pool = self_pool();
  EXPECT_OK(from_kernel_thread([&] { return ABT_thread_revive(pool, count, &ran, &t); }));
  EXPECT_OK(ABT_thread_join(t));
  EXPECT_EQ(ran, 1);
  ASSERT_OK(ABT_thread_revive(self_pool(), count, &ran, &t));
  EXPECT_OK(ABT_thread_cancel(t));
  EXPECT_OK(ABT_thread_join(t));
  EXPECT_EQ(ran, 1);
  ASSERT_OK(ABT_thread_revive(es.pool(0), count, &ran, &t)); // the request is not kept
  EXPECT_OK(ABT_thread_free(&t));
  EXPECT_EQ(ran, 2);
}

TEST(ABT_thread_revive, tasklets_too) {
  const runtime rt;
  std::atomic<int> ran = 0;
  ABT_task t = ended_task();
  ASSERT_OK(ABT_thread_revive(self_pool(), count, &ran, &t));
  EXPECT_OK(ABT_thread_free(&t));
  EXPECT_EQ(ran, 1);
}

TEST(ABT_thread_revive, moves_between_user_pools) {
  const runtime rt;
  const user_pool a;
  const user_pool b;
  body f = [] {};
  ABT_thread t = new_thread(a, f);
  EXPECT_OK(ABT_self_schedule(a.pop(), ABT_POOL_NULL));
  ASSERT_OK(ABT_thread_revive(b, run_function, &f, &t));
  EXPECT_EQ(a.units(), 0);
  EXPECT_EQ(b.units(), 1);
  EXPECT_OK(ABT_self_schedule(b.pop(), ABT_POOL_NULL));
  EXPECT_OK(ABT_thread_free(&t));
}

TEST(ABT_thread_revive, refuses_null_handles) {
  const runtime rt;
  for (ABT_thread null : null_threads)
    EXPECT_ABT(ABT_ERR_INV_THREAD, ABT_thread_revive(self_pool(), nothing, nullptr, &null));
  ABT_thread t = ended_thread();
  for (const ABT_pool null : null_pools)
    EXPECT_ABT(ABT_ERR_INV_POOL, ABT_thread_revive(null, nothing, nullptr, &t));
  EXPECT_EQ(state_of(t), ABT_THREAD_STATE_TERMINATED);
  EXPECT_OK(ABT_thread_free(&t));
}

TEST(ABT_thread_revive, refuses_a_thread_that_has_not_ended) {
  const runtime rt;
  body f = [] {
    EXPECT_OK(ABT_self_suspend());
    ABT_thread own = self();
    EXPECT_ABT(ABT_ERR_INV_THREAD, ABT_thread_revive(self_pool(), nothing, nullptr, &own));
  };
  ABT_thread t = new_thread(self_pool(), f);
  EXPECT_ABT(ABT_ERR_INV_THREAD, ABT_thread_revive(self_pool(), nothing, nullptr, &t));
  yield_until([&] { return state_of(t) == ABT_THREAD_STATE_BLOCKED; });
  EXPECT_ABT(ABT_ERR_INV_THREAD, ABT_thread_revive(self_pool(), nothing, nullptr, &t));
  EXPECT_OK(ABT_thread_resume(t));
  EXPECT_OK(ABT_thread_free(&t));
}

TEST(ABT_thread_revive, refuses_when_the_pool_makes_no_unit) {
  const runtime rt;
  const user_pool pool(0);
  std::atomic<int> ran = 0;
  ABT_thread t = ended_thread();
  EXPECT_ABT(no_unit_made, ABT_thread_revive(pool, nothing, nullptr, &t));
  EXPECT_EQ(state_of(t), ABT_THREAD_STATE_TERMINATED);
  EXPECT_OK(ABT_thread_revive(self_pool(), count, &ran, &t)); // it can still be revived elsewhere
  EXPECT_OK(ABT_thread_free(&t));
  EXPECT_EQ(ran, 1);
}

TEST(ABT_thread_revive_to, runs_the_thread_at_once) {
  const runtime rt;
  const own_pool pool;
  std::atomic<int> ran = 0;
  ABT_thread t = ended_thread();
  const ABT_thread handle = t;
  const ABT_unit_id id = id_of(t);
  for (int i = 1; i <= 3; ++i) {
    ASSERT_OK(ABT_thread_revive_to(pool, count, &ran, &t));
    EXPECT_EQ(ran, i);
  }
  EXPECT_EQ(pool.size(), 0U); // it never entered
  EXPECT_EQ(last_pool_of(t), pool);
  EXPECT_EQ(t, handle);
  EXPECT_EQ(id_of(t), id);
  EXPECT_OK(ABT_thread_free(&t));
}

TEST(ABT_thread_revive_to, refuses_null_handles) {
  const runtime rt;
  for (ABT_thread null : null_threads)
    EXPECT_ABT(ABT_ERR_INV_THREAD, ABT_thread_revive_to(self_pool(), nothing, nullptr, &null));
  ABT_thread t = ended_thread();
  for (const ABT_pool null : null_pools)
    EXPECT_ABT(ABT_ERR_INV_POOL, ABT_thread_revive_to(null, nothing, nullptr, &t));
  EXPECT_OK(ABT_thread_free(&t));
}

TEST(ABT_thread_revive_to, refuses_what_cannot_be_switched_to) {
  const runtime rt;
  body f = [] {};
  ABT_thread ready = new_thread(self_pool(), f);
  EXPECT_ABT(ABT_ERR_INV_THREAD, ABT_thread_revive_to(self_pool(), nothing, nullptr, &ready));
  ABT_thread own = self();
  EXPECT_ABT(ABT_ERR_INV_THREAD, ABT_thread_revive_to(self_pool(), nothing, nullptr, &own));
  ABT_task task = ended_task();
  EXPECT_ABT(ABT_ERR_INV_THREAD, ABT_thread_revive_to(self_pool(), nothing, nullptr, &task));
  free_all({&ready, &task});
}

TEST(ABT_thread_revive_to, refuses_callers_that_cannot_yield) {
  const runtime rt;
  const ABT_pool pool = self_pool();
  ABT_thread t = ended_thread();
  const auto call = [&] { return ABT_thread_revive_to(pool, nothing, nullptr, &t); };
  EXPECT_ABT(ABT_ERR_INV_THREAD, from_tasklet(call));
  EXPECT_ABT(ABT_ERR_INV_XSTREAM, from_kernel_thread(call));
  EXPECT_ABT(ABT_ERR_INV_THREAD, from_scheduler(call));
  EXPECT_EQ(state_of(t), ABT_THREAD_STATE_TERMINATED);
  EXPECT_OK(ABT_thread_free(&t));
}

TEST(ABT_thread_revive_to, refuses_when_the_pool_makes_no_unit) {
  const runtime rt;
  const user_pool pool(0);
  ABT_thread t = ended_thread();
  EXPECT_ABT(no_unit_made, ABT_thread_revive_to(pool, nothing, nullptr, &t));
  EXPECT_EQ(state_of(t), ABT_THREAD_STATE_TERMINATED);
  EXPECT_OK(ABT_thread_free(&t));
}

TEST(ABT_thread_free, joins_what_has_not_ended) {
  const runtime rt;
  const streams es(1);
  for (const ABT_pool pool : {self_pool(), es.pool(0)}) {
    std::atomic<bool> ended = false;
    body f = [&] {
      for (int i = 0; i < 20; ++i)
        EXPECT_OK(ABT_thread_yield());
      ended = true;
    };
    ABT_thread t = new_thread(pool, f);
    EXPECT_OK(ABT_thread_free(&t));
    EXPECT_TRUE(ended);
    EXPECT_EQ(t, ABT_THREAD_NULL);
  }
}

TEST(ABT_thread_free, from_every_context) {
  const runtime rt;
  const streams es(1);
  body f = [] { EXPECT_OK(ABT_thread_yield()); };
  ABT_thread t[3];
  for (ABT_thread& one : t)
    one = new_thread(es.pool(0), f);
  EXPECT_OK(from_kernel_thread([&] { return ABT_thread_free(&t[0]); }));
  EXPECT_OK(from_tasklet([&] { return ABT_thread_free(&t[1]); }));
  in_thread([&] { EXPECT_OK(ABT_thread_free(&t[2])); });
  for (const ABT_thread one : t)
    EXPECT_EQ(one, ABT_THREAD_NULL);
}

TEST(ABT_thread_free, a_tasklet) {
  const runtime rt;
  std::atomic<int> ran = 0;
  ABT_task t = ABT_TASK_NULL;
  ASSERT_OK(ABT_task_create(self_pool(), count, &ran, &t));
  EXPECT_OK(ABT_thread_free(&t));
  EXPECT_EQ(ran, 1);
  EXPECT_EQ(t, ABT_THREAD_NULL);
}

TEST(ABT_thread_free, refuses_null_thread) {
  const runtime rt;
  for (ABT_thread null : null_threads)
    EXPECT_ABT(ABT_ERR_INV_THREAD, ABT_thread_free(&null));
}

TEST(ABT_thread_free, refuses_the_caller_and_the_primary_thread) {
  const runtime rt;
  ABT_thread primary = self();
  EXPECT_ABT(ABT_ERR_INV_THREAD, ABT_thread_free(&primary));
  in_thread([&] {
    ABT_thread own = self();
    EXPECT_ABT(ABT_ERR_INV_THREAD, ABT_thread_free(&own));
    EXPECT_ABT(ABT_ERR_INV_THREAD, ABT_thread_free(&primary));
  });
  EXPECT_EQ(primary, self());
}

TEST(ABT_thread_free, refuses_a_scheduler) {
  const runtime rt;
  own_scheduler s;
  ABT_thread t = s.thread();
  EXPECT_ABT(ABT_ERR_INV_THREAD, ABT_thread_free(&t));
}

TEST(ABT_thread_join, waits_for_the_end) {
  const runtime rt;
  const streams es(1);
  for (const ABT_pool pool : {self_pool(), es.pool(0)}) {
    std::atomic<bool> ended = false;
    body f = [&] {
      for (int i = 0; i < 20; ++i)
        EXPECT_OK(ABT_thread_yield());
      ended = true;
    };
    ABT_thread t = new_thread(pool, f);
    EXPECT_OK(ABT_thread_join(t));
    EXPECT_TRUE(ended);
    EXPECT_EQ(state_of(t), ABT_THREAD_STATE_TERMINATED);
    EXPECT_OK(ABT_thread_join(t)); // has ended, so there is nothing to wait for
    EXPECT_OK(ABT_thread_free(&t));
  }
}

TEST(ABT_thread_join, a_thread_that_is_blocked) {
  const runtime rt;
  body f = [] { EXPECT_OK(ABT_self_suspend()); };
  ABT_thread t = new_thread(self_pool(), f);
  body resumer = [&] { resume_when_blocked(t); };
  ABT_thread r = new_thread(self_pool(), resumer);
  EXPECT_OK(ABT_thread_join(t));
  EXPECT_OK(ABT_thread_join(r));
  free_all({&t, &r});
}

TEST(ABT_thread_join, a_chain_of_joiners) {
  const runtime rt;
  const streams es(1);
  constexpr std::size_t length = 50;
  std::vector<ABT_thread> t(length, ABT_THREAD_NULL);
  std::vector<body> f(length);
  std::atomic<int> ended = 0;
  for (std::size_t i = 0; i < length; ++i) {
    f[i] = [&, i] {
      if (i > 0) {
        EXPECT_OK(ABT_thread_join(t[i - 1]));
      }
      EXPECT_EQ(ended++, static_cast<int>(i));
    };
    t[i] = new_thread(i % 2 == 0 ? self_pool() : es.pool(0), f[i]);
  }
  EXPECT_OK(ABT_thread_join(t.back()));
  EXPECT_EQ(ended, static_cast<int>(length));
  for (ABT_thread& one : t)
    EXPECT_OK(ABT_thread_free(&one));
}

TEST(ABT_thread_join, from_every_context) {
  const runtime rt;
  const streams es(1);
  std::atomic<bool> go = false;
  body f = [&] {
    while (!go)
      EXPECT_OK(ABT_thread_yield());
  };
  ABT_thread t[3];
  for (ABT_thread& one : t)
    one = new_thread(es.pool(0), f);
  EXPECT_OK(from_kernel_thread([&] {
    go = true;
    return ABT_thread_join(t[0]);
  }));
  go = false;
  EXPECT_OK(from_tasklet([&] {
    go = true; // a tasklet keeps its stream while it waits
    return ABT_thread_join(t[1]);
  }));
  in_thread([&] { EXPECT_OK(ABT_thread_join(t[2])); });
  free_all({&t[0], &t[1], &t[2]});
}

TEST(ABT_thread_join, refuses_null_thread) {
  const runtime rt;
  for (const ABT_thread null : null_threads)
    EXPECT_ABT(ABT_ERR_INV_THREAD, ABT_thread_join(null));
}

TEST(ABT_thread_join, refuses_the_caller_and_the_primary_thread) {
  const runtime rt;
  const ABT_thread primary = self();
  EXPECT_ABT(ABT_ERR_INV_THREAD, ABT_thread_join(primary));
  in_thread([&] {
    EXPECT_ABT(ABT_ERR_INV_THREAD, ABT_thread_join(self()));
    EXPECT_ABT(ABT_ERR_INV_THREAD, ABT_thread_join(primary));
  });
  in_tasklet([] { EXPECT_ABT(ABT_ERR_INV_THREAD, ABT_thread_join(self())); });
}

TEST(ABT_thread_join, refuses_a_scheduler) {
  const runtime rt;
  own_scheduler s;
  const ABT_thread t = s.thread();
  EXPECT_ABT(ABT_ERR_INV_THREAD, ABT_thread_join(t));
}

TEST(ABT_thread_exit, ends_the_caller) {
  const runtime rt;
  bool before = false;
  bool after = false;
  body f = [&] {
    before = true;
    EXPECT_OK(ABT_thread_exit());
    after = true;
  };
  ABT_thread t = new_thread(self_pool(), f);
  EXPECT_OK(ABT_thread_join(t));
  EXPECT_EQ(state_of(t), ABT_THREAD_STATE_TERMINATED);
  EXPECT_TRUE(before);
  EXPECT_FALSE(after);
  EXPECT_OK(ABT_thread_free(&t));
}

TEST(ABT_thread_exit, of_an_unnamed_thread_frees_it) {
  const runtime rt;
  std::atomic<int> destroyed = 0;
  const own_key key(count);
  body f = [&] {
    EXPECT_OK(ABT_self_set_specific(key, &destroyed));
    EXPECT_OK(ABT_thread_exit());
    ADD_FAILURE() << "exit came back";
  };
  ASSERT_OK(ABT_thread_create(self_pool(), run_function, &f, ABT_THREAD_ATTR_NULL, nullptr));
  yield_until([&] { return destroyed == 1; });
}

TEST(ABT_thread_exit, refuses_callers_that_cannot_end_so) {
  const runtime rt;
  EXPECT_ABT(ABT_ERR_INV_THREAD, ABT_thread_exit()); // the primary thread
  EXPECT_ABT(ABT_ERR_INV_THREAD, from_tasklet(ABT_thread_exit));
  EXPECT_ABT(ABT_ERR_INV_XSTREAM, from_kernel_thread(ABT_thread_exit));
}

TEST(ABT_thread_exit, refuses_without_a_runtime) {
  expect_uninitialized(ABT_thread_exit);
}

TEST(ABT_thread_cancel, before_the_start) {
  const runtime rt;
  std::atomic<int> ran = 0;
  ABT_thread t = ABT_THREAD_NULL;
  ABT_task task = ABT_TASK_NULL;
  ASSERT_OK(ABT_thread_create(self_pool(), count, &ran, ABT_THREAD_ATTR_NULL, &t));
  ASSERT_OK(ABT_task_create(self_pool(), count, &ran, &task));
  EXPECT_OK(ABT_thread_cancel(t));
  EXPECT_OK(ABT_thread_cancel(task));
  EXPECT_OK(ABT_thread_join(t));
  EXPECT_OK(ABT_thread_join(task));
  EXPECT_EQ(ran, 0);
  EXPECT_EQ(state_of(t), ABT_THREAD_STATE_TERMINATED);
  free_all({&t, &task});
}

TEST(ABT_thread_cancel, at_the_next_yield) {
  const runtime rt;
  const streams es(1);
  for (const ABT_pool pool : {self_pool(), es.pool(0)}) {
    std::atomic<int> destroyed = 0;
    std::atomic<bool> started = false;
    const own_key key(count);
    body f = [&] {
      EXPECT_OK(ABT_self_set_specific(key, &destroyed));
      for (started = true;;)
        ABT_thread_yield();
    };
    ABT_thread t = new_thread(pool, f);
    yield_until([&] { return started.load(); });
    EXPECT_OK(from_kernel_thread([&] { return ABT_thread_cancel(t); }));
    EXPECT_OK(ABT_thread_join(t));
    EXPECT_EQ(state_of(t), ABT_THREAD_STATE_TERMINATED);
    EXPECT_OK(ABT_thread_free(&t));
    EXPECT_EQ(destroyed, 1);
  }
}

TEST(ABT_thread_cancel, oneself) {
  const runtime rt;
  bool after = false;
  in_thread([&] {
    EXPECT_OK(ABT_thread_cancel(self()));
    EXPECT_OK(ABT_thread_yield());
    after = true;
  });
  EXPECT_FALSE(after);
}

TEST(ABT_thread_cancel, a_blocked_thread_once_it_is_resumed) {
  const runtime rt;
  bool after = false;
  body f = [&] {
    EXPECT_OK(ABT_self_suspend());
    after = true;
  };
  ABT_thread t = new_thread(self_pool(), f);
  yield_until([&] { return state_of(t) == ABT_THREAD_STATE_BLOCKED; });
  EXPECT_OK(ABT_thread_cancel(t));
  EXPECT_OK(ABT_thread_resume(t));
  EXPECT_OK(ABT_thread_free(&t));
  EXPECT_FALSE(after);
}

TEST(ABT_thread_cancel, after_the_end_is_nothing) {
  const runtime rt;
  ABT_thread t = ended_thread();
  EXPECT_OK(ABT_thread_cancel(t));
  EXPECT_EQ(state_of(t), ABT_THREAD_STATE_TERMINATED);
  EXPECT_OK(ABT_thread_free(&t));
}

TEST(ABT_thread_cancel, refuses_null_thread) {
  const runtime rt;
  for (const ABT_thread null : null_threads)
    EXPECT_ABT(ABT_ERR_INV_THREAD, ABT_thread_cancel(null));
}

TEST(ABT_thread_cancel, refuses_the_primary_thread) {
  const runtime rt;
  const ABT_thread primary = self();
  EXPECT_ABT(ABT_ERR_INV_THREAD, ABT_thread_cancel(primary));
  in_thread([&] { EXPECT_ABT(ABT_ERR_INV_THREAD, ABT_thread_cancel(primary)); });
}

} // namespace
} // namespace abt_test
