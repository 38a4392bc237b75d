// SPDX-License-Identifier: MIT
// Execution streams and their main schedulers: replacing them, running units by hand, checking for events.
#include <atomic>
#include <cstdlib>
#include <thread>

#include "abt_test.hpp"
#include "user_defs.hpp"

namespace {

using namespace abt_test;

ABT_pool last_pool() {
  ABT_pool pool = ABT_POOL_NULL;
  EXPECT_OK(ABT_self_get_last_pool(&pool));
  return pool;
}

ABT_sched make_basic(ABT_sched_predef predef, std::vector<ABT_pool> pools = {}) {
  ABT_sched sched = ABT_SCHED_NULL;
  EXPECT_OK(ABT_sched_create_basic(predef, static_cast<int>(pools.size()),
                                   pools.empty() ? nullptr : pools.data(), ABT_SCHED_CONFIG_NULL, &sched));
  return sched;
}

TEST(ABT_xstream_set_main_sched, moves_the_caller_to_the_first_pool) {
  const runtime rt;
  for (const ABT_sched_predef predef : every_predef) {
    SCOPED_TRACE(predef);
    const ABT_sched sched = make_basic(predef);
    ASSERT_OK(ABT_xstream_set_main_sched(self_xstream(), sched));
    EXPECT_EQ(main_sched(self_xstream()), sched);
    EXPECT_OK(ABT_thread_yield());
    EXPECT_EQ(last_pool(), self_pool());
    EXPECT_EQ(run_many(self_pool(), 5), 10);
  }
}

TEST(ABT_xstream_set_main_sched, takes_null_for_the_default_scheduler) {
  const runtime rt;
  const streams es(1);
  ASSERT_OK(ABT_xstream_set_main_sched(self_xstream(), ABT_SCHED_NULL));
  EXPECT_EQ(run_many(self_pool(), 5), 10);
  EXPECT_OK(ABT_xstream_join(es[0]));
  ASSERT_OK(ABT_xstream_set_main_sched(es[0], ABT_SCHED_NULL));
  EXPECT_OK(ABT_xstream_revive(es[0]));
  EXPECT_EQ(run_many(es.pool(0), 5), 10);
}

TEST(ABT_xstream_set_main_sched, works_for_a_thread_of_a_secondary_stream) {
  const runtime rt;
  const streams es(1);
  in_thread(
      [&es] {
        const ABT_sched sched = make_basic(ABT_SCHED_PRIO);
        EXPECT_OK(ABT_xstream_set_main_sched(self_xstream(), sched));
        EXPECT_EQ(self_xstream(), es[0]);
        EXPECT_EQ(main_sched(es[0]), sched);
        EXPECT_OK(ABT_thread_yield());
        EXPECT_EQ(last_pool(), first_pool(es[0]));
      },
      es.pool(0));
  EXPECT_EQ(run_many(es.pool(0), 5), 10);
}

TEST(ABT_xstream_set_main_sched, keeps_an_old_scheduler_that_is_not_automatic) {
  const runtime rt;
  ABT_pool pool = make_pool();
  ABT_sched mine = make_user_sched({pool});
  ASSERT_OK(ABT_xstream_set_main_sched(self_xstream(), mine));
  EXPECT_EQ(run_many(pool, 5), 10);
  ASSERT_OK(ABT_xstream_set_main_sched(self_xstream(), ABT_SCHED_NULL));
  EXPECT_EQ(run_many(self_pool(), 5), 10);
  EXPECT_OK(ABT_sched_free(&mine));
  EXPECT_OK(ABT_pool_free(&pool));
}

TEST(ABT_xstream_set_main_sched, takes_effect_on_revival_of_a_terminated_stream) {
  const runtime rt;
  const streams es(1);
  EXPECT_OK(ABT_xstream_join(es[0]));
  const ABT_sched sched = make_basic(ABT_SCHED_RANDWS);
  ASSERT_OK(ABT_xstream_set_main_sched(es[0], sched));
  EXPECT_EQ(main_sched(es[0]), sched);
  EXPECT_OK(ABT_xstream_revive(es[0]));
  EXPECT_EQ(main_sched(es[0]), sched);
  EXPECT_EQ(run_many(es.pool(0), 5), 10);
}

TEST(ABT_xstream_set_main_sched, replaces_a_users_scheduler_by_a_users_scheduler) {
  const runtime rt;
  user_fifo a;
  user_fifo b;
  ABT_pool first = make_user_pool(a, callbacks::required);
  ABT_pool second = make_user_pool(b, callbacks::all);
  ABT_sched one = make_user_sched({first});
  ABT_sched two = make_user_sched({second}, run_unit_sched);
  ABT_xstream es = ABT_XSTREAM_NULL;
  ASSERT_OK(ABT_xstream_create(one, &es));
  EXPECT_EQ(run_many(first, 5), 10);
  in_thread([two] { EXPECT_OK(ABT_xstream_set_main_sched(self_xstream(), two)); }, first);
  EXPECT_EQ(run_many(second, 5), 10);
  EXPECT_OK(ABT_sched_free(&one));
  EXPECT_OK(ABT_pool_free(&first));
  EXPECT_OK(ABT_xstream_free(&es));
  EXPECT_OK(ABT_sched_free(&two));
  EXPECT_OK(ABT_pool_free(&second));
  EXPECT_EQ(a.units, 0);
  EXPECT_EQ(b.units, 0);
}

TEST(ABT_xstream_set_main_sched, refuses_no_stream) {
  const runtime rt;
  ABT_sched sched = make_basic(ABT_SCHED_BASIC);
  EXPECT_ABT(ABT_ERR_INV_XSTREAM, ABT_xstream_set_main_sched(ABT_XSTREAM_NULL, sched));
  EXPECT_ABT(ABT_ERR_INV_XSTREAM, ABT_xstream_set_main_sched(nullptr, sched));
  EXPECT_OK(ABT_sched_free(&sched));
}

TEST(ABT_xstream_set_main_sched, refuses_a_scheduler_in_use) {
  const runtime rt;
  const streams es(2);
  EXPECT_ABT(ABT_ERR_INV_SCHED, ABT_xstream_set_main_sched(self_xstream(), main_sched(es[0])));
  EXPECT_OK(ABT_xstream_join(es[1]));
  EXPECT_ABT(ABT_ERR_INV_SCHED, ABT_xstream_set_main_sched(es[1], main_sched(es[0])));
}

TEST(ABT_xstream_set_main_sched, refuses_another_stream_that_runs) {
  const runtime rt;
  const streams es(1);
  ABT_sched sched = make_basic(ABT_SCHED_BASIC);
  EXPECT_ABT(ABT_ERR_XSTREAM_STATE, ABT_xstream_set_main_sched(es[0], sched));
  EXPECT_OK(ABT_sched_free(&sched));
}

TEST(ABT_xstream_set_main_sched, refuses_tasklets_and_kernel_threads) {
  const runtime rt;
  const ABT_xstream es = self_xstream();
  ABT_sched sched = make_basic(ABT_SCHED_BASIC);
  in_tasklet([&] { EXPECT_ABT(ABT_ERR_INV_THREAD, ABT_xstream_set_main_sched(es, sched)); });
  in_kernel_thread([&] { EXPECT_ABT(ABT_ERR_INV_XSTREAM, ABT_xstream_set_main_sched(es, sched)); });
  EXPECT_OK(ABT_sched_free(&sched));
}

TEST(ABT_xstream_set_main_sched_basic, works_for_the_own_and_for_a_terminated_stream) {
  const runtime rt;
  const streams es(1);
  for (const ABT_sched_predef predef : every_predef) {
    SCOPED_TRACE(predef);
    ABT_pool pool = make_pool(ABT_TRUE);
    ASSERT_OK(ABT_xstream_set_main_sched_basic(self_xstream(), predef, 1, &pool));
    EXPECT_EQ(self_pool(), pool);
    EXPECT_EQ(run_many(pool, 5), 10);
    EXPECT_OK(ABT_xstream_join(es[0]));
    ASSERT_OK(ABT_xstream_set_main_sched_basic(es[0], predef, 0, nullptr));
    EXPECT_OK(ABT_xstream_revive(es[0]));
    EXPECT_EQ(run_many(es.pool(0), 5), 10);
  }
}

TEST(ABT_xstream_set_main_sched_basic, refuses_what_the_long_form_refuses) {
  const runtime rt;
  const streams es(1);
  const ABT_xstream own = self_xstream();
  const auto set = [](ABT_xstream stream) {
    return ABT_xstream_set_main_sched_basic(stream, ABT_SCHED_BASIC, 0, nullptr);
  };
  EXPECT_ABT(ABT_ERR_INV_XSTREAM, set(ABT_XSTREAM_NULL));
  EXPECT_ABT(ABT_ERR_INV_XSTREAM, set(nullptr));
  EXPECT_ABT(ABT_ERR_XSTREAM_STATE, set(es[0]));
  in_tasklet([&] { EXPECT_ABT(ABT_ERR_INV_THREAD, set(own)); });
  in_kernel_thread([&] { EXPECT_ABT(ABT_ERR_INV_XSTREAM, set(own)); });
}

TEST(ABT_xstream_set_main_sched_basic, refuses_bad_arguments) {
  const runtime rt;
  ABT_pool pool = self_pool();
  EXPECT_ABT(ABT_ERR_INV_ARG, ABT_xstream_set_main_sched_basic(self_xstream(), no_predef, 0, nullptr));
  EXPECT_ABT(ABT_ERR_INV_ARG, ABT_xstream_set_main_sched_basic(self_xstream(), ABT_SCHED_BASIC, -1, &pool));
  EXPECT_EQ(self_pool(), pool);
}

TEST(ABT_xstream_get_main_sched, is_the_scheduler_given) {
  const runtime rt;
  const ABT_sched sched = make_basic(ABT_SCHED_PRIO);
  ABT_xstream es = ABT_XSTREAM_NULL;
  ASSERT_OK(ABT_xstream_create(sched, &es));
  ABT_sched got = ABT_SCHED_NULL;
  EXPECT_OK(ABT_xstream_get_main_sched(es, &got));
  EXPECT_EQ(got, sched);
  EXPECT_OK(ABT_xstream_free(&es));
}

TEST(ABT_xstream_get_main_sched, refuses_no_stream) {
  const runtime rt;
  ABT_sched sched = ABT_SCHED_NULL;
  EXPECT_ABT(ABT_ERR_INV_XSTREAM, ABT_xstream_get_main_sched(ABT_XSTREAM_NULL, &sched));
  EXPECT_ABT(ABT_ERR_INV_XSTREAM, ABT_xstream_get_main_sched(nullptr, &sched));
}

TEST(ABT_xstream_get_main_pools, writes_no_more_than_there_are) {
  const runtime rt;
  ABT_pool pools[] = {make_pool(ABT_TRUE), make_pool(ABT_TRUE)};
  const ABT_sched sched = make_basic(ABT_SCHED_PRIO, {pools[0], pools[1]});
  ABT_xstream es = ABT_XSTREAM_NULL;
  ASSERT_OK(ABT_xstream_create(sched, &es));
  ABT_pool got[4] = {nullptr, nullptr, nullptr, nullptr};
  EXPECT_OK(ABT_xstream_get_main_pools(es, 0, got));
  EXPECT_EQ(got[0], nullptr);
  EXPECT_OK(ABT_xstream_get_main_pools(es, 1, got));
  EXPECT_EQ(got[0], pools[0]);
  EXPECT_EQ(got[1], nullptr);
  EXPECT_OK(ABT_xstream_get_main_pools(es, 4, got));
  EXPECT_EQ(got[1], pools[1]);
  EXPECT_EQ(got[2], nullptr);
  EXPECT_OK(ABT_xstream_free(&es));
}

TEST(ABT_xstream_get_main_pools, refuses_no_stream_and_a_negative_count) {
  const runtime rt;
  ABT_pool pool = ABT_POOL_NULL;
  EXPECT_ABT(ABT_ERR_INV_XSTREAM, ABT_xstream_get_main_pools(ABT_XSTREAM_NULL, 1, &pool));
  EXPECT_ABT(ABT_ERR_INV_XSTREAM, ABT_xstream_get_main_pools(nullptr, 1, &pool));
  EXPECT_ABT(ABT_ERR_INV_ARG, ABT_xstream_get_main_pools(self_xstream(), -1, &pool));
}

ABT_unit pop_unit(ABT_pool pool) {
  ABT_unit unit = ABT_UNIT_NULL;
  EXPECT_OK(ABT_pool_pop(pool, &unit));
  EXPECT_NE(unit, ABT_UNIT_NULL);
  return unit;
}

TEST(ABT_xstream_run_unit, returns_when_the_unit_ends_yields_or_blocks) {
  const runtime rt;
  ABT_pool pool = make_pool();
  std::string order;
  body f = [&order] {
    order += 'a';
    EXPECT_OK(ABT_thread_yield());
    order += 'b';
    EXPECT_OK(ABT_self_suspend());
    order += 'c';
  };
  ABT_thread t = make_thread(pool, f);
  EXPECT_OK(ABT_xstream_run_unit(pop_unit(pool), pool));
  EXPECT_EQ(order, "a");
  EXPECT_OK(ABT_xstream_run_unit(pop_unit(pool), pool)); // pushed there when it yielded
  EXPECT_EQ(order, "ab");
  EXPECT_OK(ABT_thread_resume(t));
  EXPECT_OK(ABT_xstream_run_unit(pop_unit(pool), pool));
  EXPECT_EQ(order, "abc");
  EXPECT_OK(ABT_thread_free(&t));
  EXPECT_OK(ABT_pool_free(&pool));
}

TEST(ABT_xstream_run_unit, runs_tasklets) {
  const runtime rt;
  ABT_pool pool = make_pool();
  bool ran = false;
  body f = [&ran] { ran = true; };
  ABT_task task = ABT_TASK_NULL;
  ASSERT_OK(ABT_task_create(pool, run_function, &f, &task));
  EXPECT_OK(ABT_xstream_run_unit(pop_unit(pool), pool));
  EXPECT_TRUE(ran);
  EXPECT_OK(ABT_task_free(&task));
  EXPECT_OK(ABT_pool_free(&pool));
}

TEST(ABT_xstream_run_unit, moves_the_unit_to_the_pool) {
  const runtime rt;
  user_fifo fifo;
  ABT_pool from = make_pool();
  ABT_pool to = make_user_pool(fifo, callbacks::required);
  body f = [] { EXPECT_OK(ABT_thread_yield()); };
  ABT_thread t = make_thread(from, f);
  EXPECT_OK(ABT_xstream_run_unit(pop_unit(from), to));
  EXPECT_EQ(fifo.size(), 1U);
  EXPECT_EQ(fifo.units, 1);
  EXPECT_OK(ABT_xstream_run_unit(pop_unit(to), from));
  EXPECT_EQ(fifo.units, 0);
  EXPECT_OK(ABT_thread_free(&t));
  EXPECT_OK(ABT_pool_free(&from));
  EXPECT_OK(ABT_pool_free(&to));
}

TEST(ABT_xstream_run_unit, refuses_wrong_contexts_and_handles) {
  const runtime rt;
  ABT_pool pool = make_pool();
  body f = [] {};
  ABT_thread t = make_thread(pool, f);
  const ABT_unit unit = pop_unit(pool);
  EXPECT_ABT(ABT_ERR_INV_UNIT, ABT_xstream_run_unit(ABT_UNIT_NULL, pool));
  EXPECT_ABT(ABT_ERR_INV_POOL, ABT_xstream_run_unit(unit, ABT_POOL_NULL));
  EXPECT_ABT(ABT_ERR_INV_POOL, ABT_xstream_run_unit(unit, nullptr));
  in_tasklet([&] { EXPECT_ABT(ABT_ERR_INV_THREAD, ABT_xstream_run_unit(unit, pool)); });
  in_kernel_thread([&] { EXPECT_ABT(ABT_ERR_INV_XSTREAM, ABT_xstream_run_unit(unit, pool)); });
  EXPECT_OK(ABT_xstream_run_unit(unit, pool));
  EXPECT_OK(ABT_thread_free(&t));
  EXPECT_OK(ABT_pool_free(&pool));
}

TEST(ABT_xstream_run_unit, refuses_a_pool_that_makes_no_unit) {
  const runtime rt;
  user_fifo fifo;
  fifo.refuse_units = true;
  ABT_pool from = make_pool();
  ABT_pool to = make_user_pool(fifo, callbacks::required);
  bool ran = false;
  body f = [&ran] { ran = true; };
  ABT_thread t = make_thread(from, f);
  const ABT_unit unit = pop_unit(from);
  EXPECT_ABT(ABT_ERR_UNIT, ABT_xstream_run_unit(unit, to));
  EXPECT_FALSE(ran);
  EXPECT_OK(ABT_xstream_run_unit(unit, from));
  EXPECT_TRUE(ran);
  EXPECT_OK(ABT_thread_free(&t));
  EXPECT_OK(ABT_pool_free(&from));
  EXPECT_OK(ABT_pool_free(&to));
}

// Without it nobody would hear of the join: run_user_sched() calls it.
TEST(ABT_xstream_check_events, lets_a_users_scheduler_be_joined_and_cancelled) {
  const runtime rt;
  for (const bool cancel : {false, true}) {
    ABT_pool pool = make_pool();
    ABT_sched sched = make_user_sched({pool});
    ABT_xstream es = ABT_XSTREAM_NULL;
    ASSERT_OK(ABT_xstream_create(sched, &es));
    EXPECT_EQ(run_many(pool, 5), 10);
    if (cancel) {
      EXPECT_OK(ABT_xstream_cancel(es));
    }
    EXPECT_OK(ABT_xstream_join(es));
    EXPECT_OK(ABT_xstream_free(&es));
    EXPECT_OK(ABT_sched_free(&sched));
    EXPECT_OK(ABT_pool_free(&pool));
  }
}

void await_end(ABT_thread& t) {
  for (ABT_thread_state state = ABT_THREAD_STATE_READY; state != ABT_THREAD_STATE_TERMINATED;) {
    std::this_thread::yield(); // the kernel thread's: the stream does nothing else
    ASSERT_OK(ABT_thread_get_state(t, &state));
  }
  EXPECT_OK(ABT_thread_free(&t));
}

// Moves the primary ULT to the other one of two streams over one pool: a ULT blocks that one until another
// has the caller's, where it polls until the caller has gone on.
void move_to_other_stream(ABT_pool pool) {
  std::atomic<bool> is_blocked = false;
  std::atomic<bool> is_held = false;
  std::atomic<bool> has_left = false;
  body block = [&] {
    is_blocked = true;
    while (!is_held)
      std::this_thread::yield();
  };
  body hold = [&] {
    is_held = true;
    while (!has_left)
      std::this_thread::yield();
  };
  const ABT_xstream before = self_xstream();
  ABT_thread blocker = make_thread(pool, block);
  while (!is_blocked)
    std::this_thread::yield();
  ABT_thread holder = make_thread(pool, hold);
  EXPECT_OK(ABT_thread_yield());
  EXPECT_NE(self_xstream(), before);
  has_left = true;
  await_end(blocker);
  await_end(holder);
}

TEST(primary_ult, goes_on_where_it_is_taken_if_that_is_asked_for) {
  ASSERT_EQ(::setenv("WEFT_PRIMARY", "anywhere", 1), 0); // read once: each test is a process
  const runtime rt;
  const ABT_pool pool = make_pool();
  const ABT_xstream home = self_xstream();
  ASSERT_OK(ABT_xstream_set_main_sched(home, make_basic(ABT_SCHED_BASIC, {pool})));
  ABT_xstream other = ABT_XSTREAM_NULL;
  ASSERT_OK(ABT_xstream_create(make_basic(ABT_SCHED_BASIC, {pool}), &other));
  move_to_other_stream(pool);
  EXPECT_EQ(self_xstream(), other);
  EXPECT_ABT(ABT_ERR_INV_XSTREAM, ABT_finalize());
  move_to_other_stream(pool);
  EXPECT_EQ(self_xstream(), home);
  EXPECT_OK(ABT_xstream_free(&other));
}

TEST(ABT_xstream_check_events, refuses_callers_that_are_not_the_scheduler) {
  ABT_sched none = ABT_SCHED_NULL;
  EXPECT_ABT(ABT_ERR_UNINITIALIZED, ABT_xstream_check_events(none));
  {
    const runtime rt;
    const ABT_sched sched = main_sched(self_xstream());
    EXPECT_ABT(ABT_ERR_INV_THREAD, ABT_xstream_check_events(sched));
    EXPECT_ABT(ABT_ERR_INV_SCHED, ABT_xstream_check_events(ABT_SCHED_NULL));
    EXPECT_ABT(ABT_ERR_INV_SCHED, ABT_xstream_check_events(nullptr));
    in_thread([sched] { EXPECT_ABT(ABT_ERR_INV_THREAD, ABT_xstream_check_events(sched)); });
    in_tasklet([sched] { EXPECT_ABT(ABT_ERR_INV_THREAD, ABT_xstream_check_events(sched)); });
    in_kernel_thread([sched] { EXPECT_ABT(ABT_ERR_INV_XSTREAM, ABT_xstream_check_events(sched)); });
  }
  EXPECT_ABT(ABT_ERR_UNINITIALIZED, ABT_xstream_check_events(none));
}

} // namespace
