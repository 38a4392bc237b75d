// SPDX-License-Identifier: MIT
// Schedulers: how they are stopped, and schedulers that run inside other ones.
#include "abt_test.hpp"
#include "user_defs.hpp"

namespace {

using namespace abt_test;

bool terminated(ABT_xstream es) {
  ABT_xstream_state state = ABT_XSTREAM_STATE_RUNNING;
  EXPECT_OK(ABT_xstream_get_state(es, &state));
  return state == ABT_XSTREAM_STATE_TERMINATED;
}

ABT_xstream stream_over(ABT_pool pool, ABT_sched_predef predef = ABT_SCHED_BASIC) {
  ABT_xstream es = ABT_XSTREAM_NULL;
  EXPECT_OK(ABT_xstream_create_basic(predef, 1, &pool, ABT_SCHED_CONFIG_NULL, &es));
  return es;
}

// Inside another scheduler has_to_stop() is true as soon as the pools are empty.
std::atomic<int> user_scheds_ended;
void run_stacked(ABT_sched sched) {
  run_user_sched(sched);
  ++user_scheds_ended;
}

TEST(ABT_sched_finish, ends_each_kind_once_its_pools_are_empty) {
  const runtime rt;
  for (const ABT_sched_predef predef : every_predef) {
    SCOPED_TRACE(predef);
    std::atomic<int> ran = 0;
    body f = [&ran] {
      for (int i = 0; i < 5; ++i)
        EXPECT_OK(ABT_thread_yield());
      ++ran;
    };
    ABT_pool pool = make_pool(ABT_TRUE);
    for (int i = 0; i < 20; ++i)
      EXPECT_OK(ABT_thread_create(pool, run_function, &f, ABT_THREAD_ATTR_NULL, nullptr));
    ABT_xstream es = stream_over(pool, predef);
    EXPECT_OK(ABT_sched_finish(main_sched(es)));
    yield_until([es] { return terminated(es); });
    EXPECT_EQ(ran, 20);
    EXPECT_OK(ABT_xstream_free(&es));
  }
}

TEST(ABT_sched_finish, refuses_no_scheduler) {
  const runtime rt;
  EXPECT_ABT(ABT_ERR_INV_SCHED, ABT_sched_finish(ABT_SCHED_NULL));
  EXPECT_ABT(ABT_ERR_INV_SCHED, ABT_sched_finish(nullptr));
}

TEST(ABT_sched_exit, ends_with_work_left_and_wins_over_finish) {
  const runtime rt;
  for (const ABT_sched_predef predef : every_predef) {
    SCOPED_TRACE(predef);
    std::atomic<bool> started = false;
    std::atomic<bool> stop = false;
    body f = [&] {
      started = true;
      while (!stop)
        EXPECT_OK(ABT_thread_yield());
    };
    ABT_pool pool = make_pool();
    ABT_thread t = make_thread(pool, f);
    ABT_xstream es = stream_over(pool, predef);
    yield_until([&started] { return started.load(); });
    EXPECT_OK(ABT_sched_exit(main_sched(es)));
    EXPECT_OK(ABT_sched_finish(main_sched(es)));
    yield_until([es] { return terminated(es); });
    EXPECT_OK(ABT_xstream_free(&es));
    stop = true;
    es = stream_over(pool);
    EXPECT_OK(ABT_thread_free(&t));
    EXPECT_OK(ABT_xstream_free(&es));
    EXPECT_OK(ABT_pool_free(&pool));
  }
}

TEST(ABT_sched_exit, ends_a_stacked_scheduler_with_work_left) {
  const runtime rt;
  user_scheds_ended = 0;
  bool stop = false;
  body f = [&stop] {
    while (!stop)
      EXPECT_OK(ABT_thread_yield());
  };
  ABT_pool pool = make_pool();
  ABT_thread t = make_thread(pool, f);
  ABT_sched sched = make_user_sched({pool}, run_stacked);
  body exit = [sched] { EXPECT_OK(ABT_sched_exit(sched)); };
  ABT_thread exiting = make_thread(pool, exit);
  EXPECT_OK(ABT_pool_add_sched(self_pool(), sched));
  yield_until([] { return user_scheds_ended == 1; });
  EXPECT_OK(ABT_thread_free(&exiting));
  std::size_t left = 0;
  EXPECT_OK(ABT_pool_get_size(pool, &left));
  EXPECT_EQ(left, 1U);
  stop = true; // and now it is run by hand
  ABT_thread next = ABT_THREAD_NULL;
  EXPECT_OK(ABT_pool_pop_thread(pool, &next));
  EXPECT_EQ(next, t);
  EXPECT_OK(ABT_self_schedule(next, ABT_POOL_NULL));
  EXPECT_OK(ABT_thread_free(&t));
  EXPECT_OK(ABT_sched_free(&sched));
  EXPECT_OK(ABT_pool_free(&pool));
}

TEST(ABT_sched_exit, refuses_no_scheduler) {
  const runtime rt;
  EXPECT_ABT(ABT_ERR_INV_SCHED, ABT_sched_exit(ABT_SCHED_NULL));
  EXPECT_ABT(ABT_ERR_INV_SCHED, ABT_sched_exit(nullptr));
}

TEST(ABT_sched_has_to_stop, is_false_until_somebody_asks) {
  const runtime rt;
  const ABT_sched sched = main_sched(self_xstream());
  ABT_bool stop = ABT_TRUE;
  EXPECT_OK(ABT_sched_has_to_stop(sched, &stop));
  EXPECT_EQ(stop, ABT_FALSE);
  stop = ABT_TRUE;
  in_tasklet([&] { EXPECT_OK(ABT_sched_has_to_stop(sched, &stop)); });
  EXPECT_EQ(stop, ABT_FALSE);
}

// A blocked unit of its pool keeps a scheduler that shall finish going.
TEST(ABT_sched_has_to_stop, waits_for_blocked_units_when_it_shall_finish) {
  const runtime rt;
  std::atomic<bool> blocked = false;
  body f = [&blocked] {
    blocked = true;
    EXPECT_OK(ABT_self_suspend());
  };
  ABT_pool pool = make_pool();
  ABT_sched sched = make_user_sched({pool});
  ABT_thread t = make_thread(pool, f);
  ABT_xstream es = ABT_XSTREAM_NULL;
  ASSERT_OK(ABT_xstream_create(sched, &es));
  yield_until([&] {
    ABT_thread_state state = ABT_THREAD_STATE_READY;
    EXPECT_OK(ABT_thread_get_state(t, &state));
    return blocked && state == ABT_THREAD_STATE_BLOCKED;
  });
  EXPECT_OK(ABT_sched_finish(sched));
  for (int i = 0; i < 100; ++i)
    EXPECT_OK(ABT_thread_yield());
  EXPECT_FALSE(terminated(es));
  EXPECT_OK(ABT_thread_resume(t));
  yield_until([es] { return terminated(es); });
  EXPECT_OK(ABT_thread_free(&t));
  EXPECT_OK(ABT_xstream_free(&es));
  EXPECT_OK(ABT_sched_free(&sched));
  EXPECT_OK(ABT_pool_free(&pool));
}

TEST(ABT_sched_has_to_stop, refuses_no_scheduler_and_kernel_threads) {
  const runtime rt;
  ABT_bool stop = ABT_TRUE;
  EXPECT_ABT(ABT_ERR_INV_SCHED, ABT_sched_has_to_stop(ABT_SCHED_NULL, &stop));
  EXPECT_EQ(stop, ABT_FALSE);
  stop = ABT_TRUE;
  EXPECT_ABT(ABT_ERR_INV_SCHED, ABT_sched_has_to_stop(nullptr, &stop));
  EXPECT_EQ(stop, ABT_FALSE);
  const ABT_sched sched = main_sched(self_xstream());
  stop = ABT_TRUE;
  in_kernel_thread([&] { EXPECT_ABT(ABT_ERR_INV_XSTREAM, ABT_sched_has_to_stop(sched, &stop)); });
  EXPECT_EQ(stop, ABT_FALSE);
}

ABT_sched stackable(ABT_sched_predef predef, ABT_pool pool) {
  ABT_sched sched = ABT_SCHED_NULL;
  EXPECT_OK(ABT_sched_create_basic(predef, 1, &pool, ABT_SCHED_CONFIG_NULL, &sched));
  return sched;
}

TEST(ABT_pool_add_sched, runs_each_predefined_scheduler_until_its_pool_is_empty) {
  const runtime rt;
  for (const ABT_sched_predef predef : every_predef) {
    SCOPED_TRACE(predef);
    std::atomic<int> ran = 0;
    body f = [&ran] {
      EXPECT_OK(ABT_thread_yield());
      ++ran;
    };
    ABT_pool inner = make_pool(ABT_TRUE); // goes with the scheduler
    for (int i = 0; i < 20; ++i)
      EXPECT_OK(ABT_thread_create(inner, run_function, &f, ABT_THREAD_ATTR_NULL, nullptr));
    EXPECT_OK(ABT_pool_add_sched(self_pool(), stackable(predef, inner)));
    yield_until([&ran] { return ran == 20; });
  }
}

TEST(ABT_pool_add_sched, nests_three_deep) {
  const runtime rt;
  const streams es(1);
  for (const bool secondary : {false, true}) {
    SCOPED_TRACE(secondary);
    std::atomic<int> ran = 0;
    body f = [&ran] {
      EXPECT_OK(ABT_thread_yield());
      ++ran;
    };
    ABT_pool a = make_pool(ABT_TRUE);
    ABT_pool b = make_pool(ABT_TRUE);
    ABT_pool c = make_pool(ABT_TRUE);
    for (const ABT_pool pool : {a, b, c}) {
      for (int i = 0; i < 10; ++i)
        EXPECT_OK(ABT_thread_create(pool, run_function, &f, ABT_THREAD_ATTR_NULL, nullptr));
    }
    EXPECT_OK(ABT_pool_add_sched(b, stackable(ABT_SCHED_PRIO, c)));
    EXPECT_OK(ABT_pool_add_sched(a, stackable(ABT_SCHED_RANDWS, b)));
    EXPECT_OK(ABT_pool_add_sched(secondary ? es.pool(0) : self_pool(), stackable(ABT_SCHED_BASIC, a)));
    yield_until([&ran] { return ran == 30; });
  }
}

TEST(ABT_pool_add_sched, nests_users_schedulers_three_deep) {
  const runtime rt;
  user_scheds_ended = 0;
  std::atomic<int> ran = 0;
  body f = [&ran] {
    EXPECT_OK(ABT_thread_yield());
    ++ran;
  };
  user_fifo fifo[3];
  ABT_pool pools[3];
  ABT_sched scheds[3];
  for (int i = 0; i < 3; ++i) {
    pools[i] = make_user_pool(fifo[i], i == 1 ? callbacks::required : callbacks::all);
    scheds[i] = make_user_sched({pools[i]}, run_stacked);
    for (int k = 0; k < 10; ++k)
      EXPECT_OK(ABT_thread_create(pools[i], run_function, &f, ABT_THREAD_ATTR_NULL, nullptr));
  }
  EXPECT_OK(ABT_pool_add_sched(pools[1], scheds[2]));
  EXPECT_OK(ABT_pool_add_sched(pools[0], scheds[1]));
  EXPECT_OK(ABT_pool_add_sched(self_pool(), scheds[0]));
  yield_until([] { return user_scheds_ended == 3; });
  EXPECT_EQ(ran, 30);
  for (int i = 0; i < 3; ++i) {
    EXPECT_OK(ABT_sched_free(&scheds[i])); // not automatic
    EXPECT_OK(ABT_pool_free(&pools[i]));
    EXPECT_EQ(fifo[i].units, 0);
  }
}

// Both units of the inner pool get their turn, though the first one gives up its own only by yielding.
TEST(ABT_pool_add_sched, runs_units_that_wait_for_each_other) {
  const runtime rt;
  std::atomic<bool> release = false;
  std::atomic<bool> released = false;
  body waiter = [&] {
    while (!release)
      EXPECT_OK(ABT_thread_yield());
    released = true;
  };
  body releaser = [&release] { release = true; };
  ABT_pool inner = make_pool(ABT_TRUE);
  EXPECT_OK(ABT_thread_create(inner, run_function, &waiter, ABT_THREAD_ATTR_NULL, nullptr));
  EXPECT_OK(ABT_pool_add_sched(self_pool(), stackable(ABT_SCHED_BASIC, inner)));
  ABT_thread t = make_thread(inner, releaser);
  EXPECT_OK(ABT_thread_free(&t));
  yield_until([&released] { return released.load(); });
}

TEST(ABT_pool_add_sched, refuses_no_pool_and_no_scheduler) {
  const runtime rt;
  ABT_sched sched = stackable(ABT_SCHED_BASIC, make_pool(ABT_TRUE));
  EXPECT_ABT(ABT_ERR_INV_POOL, ABT_pool_add_sched(ABT_POOL_NULL, sched));
  EXPECT_ABT(ABT_ERR_INV_POOL, ABT_pool_add_sched(nullptr, sched));
  EXPECT_ABT(ABT_ERR_INV_SCHED, ABT_pool_add_sched(self_pool(), ABT_SCHED_NULL));
  EXPECT_ABT(ABT_ERR_INV_SCHED, ABT_pool_add_sched(self_pool(), nullptr));
  EXPECT_OK(ABT_sched_free(&sched));
}

TEST(ABT_pool_add_sched, refuses_a_scheduler_in_use) {
  const runtime rt;
  EXPECT_ABT(ABT_ERR_INV_SCHED, ABT_pool_add_sched(self_pool(), main_sched(self_xstream())));
}

} // namespace
