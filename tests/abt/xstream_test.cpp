// SPDX-License-Identifier: MIT
// Execution streams: how they start, end, start again, and what they are called.
#include <thread>

#include "abt_test.hpp"
#include "user_defs.hpp"

namespace {

using namespace abt_test;

ABT_xstream_state state_of(ABT_xstream es) {
  ABT_xstream_state state = ABT_XSTREAM_STATE_RUNNING;
  EXPECT_OK(ABT_xstream_get_state(es, &state));
  return state;
}

int rank_of(ABT_xstream es) {
  int rank = -1;
  EXPECT_OK(ABT_xstream_get_rank(es, &rank));
  return rank;
}

TEST(ABT_xstream_create, starts_to_run) {
  const runtime rt;
  const streams es(1);
  std::atomic<bool> ran = false;
  body f = [&ran] { ran = true; };
  ABT_thread t = make_thread(es.pool(0), f);
  yield_until([&ran] { return ran.load(); });
  EXPECT_OK(ABT_thread_free(&t));
}

TEST(ABT_xstream_create, takes_a_scheduler) {
  const runtime rt;
  ABT_sched sched = ABT_SCHED_NULL;
  ASSERT_OK(ABT_sched_create_basic(ABT_SCHED_PRIO, 0, nullptr, ABT_SCHED_CONFIG_NULL, &sched));
  ABT_xstream es = ABT_XSTREAM_NULL;
  ASSERT_OK(ABT_xstream_create(sched, &es));
  EXPECT_EQ(main_sched(es), sched);
  EXPECT_EQ(run_many(first_pool(es), 5), 10);
  EXPECT_OK(ABT_xstream_free(&es));
}

TEST(ABT_xstream_create, leaves_a_scheduler_that_is_not_automatic_to_its_user) {
  const runtime rt;
  ABT_pool pool = make_pool();
  ABT_sched sched = make_user_sched({pool});
  ABT_xstream es = ABT_XSTREAM_NULL;
  ASSERT_OK(ABT_xstream_create(sched, &es));
  EXPECT_EQ(run_many(pool, 5), 10);
  EXPECT_OK(ABT_xstream_free(&es));
  EXPECT_OK(ABT_sched_free(&sched));
  EXPECT_OK(ABT_pool_free(&pool));
}

TEST(ABT_xstream_create, gives_the_smallest_free_rank) {
  const runtime rt;
  ABT_xstream a = make_stream();
  ABT_xstream b = make_stream();
  EXPECT_EQ(rank_of(a), 1);
  EXPECT_EQ(rank_of(b), 2);
  EXPECT_OK(ABT_xstream_free(&a));
  a = make_stream();
  EXPECT_EQ(rank_of(a), 1);
  EXPECT_OK(ABT_xstream_free(&a));
  EXPECT_OK(ABT_xstream_free(&b));
}

TEST(ABT_xstream_create, may_be_called_in_any_context) {
  const runtime rt;
  const body make_and_free = [] {
    ABT_xstream es = make_stream();
    EXPECT_OK(ABT_xstream_free(&es));
  };
  in_thread(make_and_free);
  in_kernel_thread(make_and_free);
  ABT_xstream es = ABT_XSTREAM_NULL;
  in_tasklet([&es] { es = make_stream(); });
  EXPECT_EQ(run_many(first_pool(es), 3), 6);
  EXPECT_OK(ABT_xstream_free(&es));
}

TEST(ABT_xstream_create, makes_more_streams_than_there_are_cores) {
  const runtime rt;
  const streams es(12);
  for (std::size_t i = 0; i < 12; ++i)
    EXPECT_EQ(run_many(es.pool(i), 2), 4);
}

TEST(ABT_xstream_create, refuses_a_scheduler_in_use) {
  const runtime rt;
  const streams es(1);
  ABT_xstream other = es[0];
  EXPECT_ABT(ABT_ERR_INV_SCHED, ABT_xstream_create(main_sched(es[0]), &other));
  EXPECT_EQ(other, ABT_XSTREAM_NULL);
}

TEST(ABT_xstream_create_basic, makes_its_pools) {
  const runtime rt;
  for (const ABT_sched_predef predef : every_predef) {
    SCOPED_TRACE(predef);
    ABT_xstream es = ABT_XSTREAM_NULL;
    ASSERT_OK(ABT_xstream_create_basic(predef, 0, nullptr, ABT_SCHED_CONFIG_NULL, &es));
    for (const ABT_pool pool : pools_of(main_sched(es)))
      EXPECT_EQ(run_many(pool, 10), 20);
    EXPECT_OK(ABT_xstream_free(&es));
    EXPECT_EQ(es, ABT_XSTREAM_NULL);
  }
}

TEST(ABT_xstream_create_basic, takes_pools_and_makes_the_missing_ones) {
  const runtime rt;
  for (const ABT_sched_predef predef : every_predef) {
    SCOPED_TRACE(predef);
    ABT_pool pools[] = {make_pool(ABT_TRUE), ABT_POOL_NULL, make_pool(ABT_TRUE)};
    ABT_xstream es = ABT_XSTREAM_NULL;
    ASSERT_OK(ABT_xstream_create_basic(predef, 3, pools, ABT_SCHED_CONFIG_NULL, &es));
    const std::vector<ABT_pool> all = pools_of(main_sched(es));
    ASSERT_EQ(all.size(), 3U);
    for (const ABT_pool pool : all)
      EXPECT_EQ(run_many(pool, 5), 10);
    EXPECT_OK(ABT_xstream_free(&es));
  }
}

TEST(ABT_xstream_create_basic, takes_a_configuration) {
  const runtime rt;
  ABT_sched_config config = ABT_SCHED_CONFIG_NULL;
  ASSERT_OK(ABT_sched_config_create(&config, ABT_sched_basic_freq, 1, ABT_sched_config_automatic, ABT_FALSE,
                                    ABT_sched_config_var_end));
  ABT_xstream es = ABT_XSTREAM_NULL;
  ASSERT_OK(ABT_xstream_create_basic(ABT_SCHED_BASIC, 0, nullptr, config, &es));
  EXPECT_OK(ABT_sched_config_free(&config));
  ABT_sched sched = main_sched(es);
  EXPECT_EQ(run_many(first_pool(es), 10), 20);
  EXPECT_OK(ABT_xstream_free(&es));
  EXPECT_OK(ABT_sched_free(&sched)); // was not automatic
}

TEST(ABT_xstream_create_basic, refuses_bad_arguments) {
  const runtime rt;
  ABT_xstream es = self_xstream();
  EXPECT_ABT(ABT_ERR_INV_ARG, ABT_xstream_create_basic(no_predef, 0, nullptr, ABT_SCHED_CONFIG_NULL, &es));
  EXPECT_EQ(es, ABT_XSTREAM_NULL);
  es = self_xstream();
  ABT_pool pool = self_pool();
  EXPECT_ABT(ABT_ERR_INV_ARG,
             ABT_xstream_create_basic(ABT_SCHED_BASIC, -1, &pool, ABT_SCHED_CONFIG_NULL, &es));
  EXPECT_EQ(es, ABT_XSTREAM_NULL);
}

TEST(ABT_xstream_create_with_rank, gives_that_rank) {
  const runtime rt;
  ABT_xstream es = ABT_XSTREAM_NULL;
  ASSERT_OK(ABT_xstream_create_with_rank(ABT_SCHED_NULL, 5, &es));
  EXPECT_EQ(rank_of(es), 5);
  int seen = -1;
  in_thread([&seen] { EXPECT_OK(ABT_xstream_self_rank(&seen)); }, first_pool(es));
  EXPECT_EQ(seen, 5);
  EXPECT_OK(ABT_xstream_free(&es));
  ASSERT_OK(ABT_xstream_create_with_rank(ABT_SCHED_NULL, 5, &es)); // free again
  EXPECT_OK(ABT_xstream_free(&es));
}

TEST(ABT_xstream_create_with_rank, refuses_ranks_that_are_taken_or_negative) {
  const runtime rt;
  const streams one(1);
  for (const int rank : {0, 1, -1}) {
    SCOPED_TRACE(rank);
    ABT_xstream es = one[0];
    EXPECT_ABT(ABT_ERR_INV_XSTREAM_RANK, ABT_xstream_create_with_rank(ABT_SCHED_NULL, rank, &es));
    EXPECT_EQ(es, ABT_XSTREAM_NULL);
  }
}

TEST(ABT_xstream_create_with_rank, refuses_a_scheduler_in_use) {
  const runtime rt;
  const streams one(1);
  ABT_xstream es = one[0];
  EXPECT_ABT(ABT_ERR_INV_SCHED, ABT_xstream_create_with_rank(main_sched(one[0]), 3, &es));
  EXPECT_EQ(es, ABT_XSTREAM_NULL);
}

TEST(ABT_xstream_free, waits_for_the_work) {
  const runtime rt;
  std::atomic<int> ran = 0;
  body f = [&ran] {
    for (int i = 0; i < 10; ++i)
      EXPECT_OK(ABT_thread_yield());
    ++ran;
  };
  for (const bool joined_first : {false, true}) {
    ABT_xstream es = make_stream();
    for (int i = 0; i < 20; ++i)
      EXPECT_OK(ABT_thread_create(first_pool(es), run_function, &f, ABT_THREAD_ATTR_NULL, nullptr));
    if (joined_first) {
      EXPECT_OK(ABT_xstream_join(es));
    }
    EXPECT_OK(ABT_xstream_free(&es));
    EXPECT_EQ(es, ABT_XSTREAM_NULL);
  }
  EXPECT_EQ(ran, 40);
}

TEST(ABT_xstream_free, refuses_no_stream) {
  const runtime rt;
  ABT_xstream es = ABT_XSTREAM_NULL;
  EXPECT_ABT(ABT_ERR_INV_XSTREAM, ABT_xstream_free(&es));
  es = nullptr;
  EXPECT_ABT(ABT_ERR_INV_XSTREAM, ABT_xstream_free(&es));
}

TEST(ABT_xstream_free, refuses_the_primary_and_the_callers_own) {
  const runtime rt;
  const streams one(1);
  const ABT_xstream primary = self_xstream();
  ABT_xstream es = primary;
  EXPECT_ABT(ABT_ERR_INV_XSTREAM, ABT_xstream_free(&es));
  EXPECT_EQ(es, primary);
  in_thread(
      [primary] {
        ABT_xstream own = self_xstream();
        EXPECT_ABT(ABT_ERR_INV_XSTREAM, ABT_xstream_free(&own));
        ABT_xstream other = primary;
        EXPECT_ABT(ABT_ERR_INV_XSTREAM, ABT_xstream_free(&other));
      },
      one.pool(0));
}

TEST(ABT_xstream_join, waits_for_the_work) {
  const runtime rt;
  const streams es(1);
  std::atomic<int> ran = 0;
  body f = [&ran] {
    EXPECT_OK(ABT_thread_yield());
    ++ran;
  };
  for (int i = 0; i < 20; ++i)
    EXPECT_OK(ABT_thread_create(es.pool(0), run_function, &f, ABT_THREAD_ATTR_NULL, nullptr));
  EXPECT_EQ(state_of(es[0]), ABT_XSTREAM_STATE_RUNNING);
  EXPECT_OK(ABT_xstream_join(es[0]));
  EXPECT_EQ(ran, 20);
  EXPECT_EQ(state_of(es[0]), ABT_XSTREAM_STATE_TERMINATED);
  EXPECT_OK(ABT_xstream_join(es[0])); // is over already
}

// A unit that nobody has resumed yet still belongs to the stream.
TEST(ABT_xstream_join, waits_for_blocked_units) {
  const runtime rt;
  const streams es(1);
  std::atomic<bool> finished = false;
  body suspended = [&finished] {
    EXPECT_OK(ABT_self_suspend());
    finished = true;
  };
  ABT_thread t = make_thread(es.pool(0), suspended);
  yield_until([t] {
    ABT_thread_state state = ABT_THREAD_STATE_READY;
    EXPECT_OK(ABT_thread_get_state(t, &state));
    return state == ABT_THREAD_STATE_BLOCKED;
  });
  body resume = [t] { EXPECT_OK(ABT_thread_resume(t)); };
  ABT_thread resumer = make_thread(self_pool(), resume); // runs when the join yields
  EXPECT_OK(ABT_xstream_join(es[0]));
  EXPECT_TRUE(finished);
  EXPECT_OK(ABT_thread_free(&resumer));
  EXPECT_OK(ABT_thread_free(&t));
}

TEST(ABT_xstream_join, works_in_threads_and_kernel_threads) {
  const runtime rt;
  const streams es(2);
  in_thread([&es] { EXPECT_OK(ABT_xstream_join(es[0])); });
  in_kernel_thread([&es] { EXPECT_OK(ABT_xstream_join(es[1])); });
  EXPECT_EQ(state_of(es[0]), ABT_XSTREAM_STATE_TERMINATED);
  EXPECT_EQ(state_of(es[1]), ABT_XSTREAM_STATE_TERMINATED);
}

TEST(ABT_xstream_join, refuses_no_stream_the_primary_and_the_callers_own) {
  const runtime rt;
  const streams one(1);
  EXPECT_ABT(ABT_ERR_INV_XSTREAM, ABT_xstream_join(ABT_XSTREAM_NULL));
  EXPECT_ABT(ABT_ERR_INV_XSTREAM, ABT_xstream_join(nullptr));
  const ABT_xstream primary = self_xstream();
  EXPECT_ABT(ABT_ERR_INV_XSTREAM, ABT_xstream_join(primary));
  in_thread(
      [primary] {
        EXPECT_ABT(ABT_ERR_INV_XSTREAM, ABT_xstream_join(self_xstream()));
        EXPECT_ABT(ABT_ERR_INV_XSTREAM, ABT_xstream_join(primary));
      },
      one.pool(0));
}

TEST(ABT_xstream_revive, starts_it_again) {
  const runtime rt;
  const streams es(1);
  const ABT_sched sched = main_sched(es[0]);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(run_many(es.pool(0), 5), 10);
    EXPECT_OK(ABT_xstream_join(es[0]));
    EXPECT_OK(ABT_xstream_revive(es[0]));
    EXPECT_EQ(state_of(es[0]), ABT_XSTREAM_STATE_RUNNING);
    EXPECT_EQ(rank_of(es[0]), 1);
    EXPECT_EQ(main_sched(es[0]), sched);
  }
  EXPECT_EQ(run_many(es.pool(0), 5), 10);
}

TEST(ABT_xstream_revive, runs_what_was_pushed_meanwhile) {
  const runtime rt;
  const streams es(1);
  EXPECT_OK(ABT_xstream_join(es[0]));
  std::atomic<bool> ran = false;
  body f = [&ran] { ran = true; };
  ABT_thread t = make_thread(es.pool(0), f);
  for (int i = 0; i < 20; ++i)
    EXPECT_OK(ABT_thread_yield());
  EXPECT_FALSE(ran);
  EXPECT_OK(ABT_xstream_revive(es[0]));
  EXPECT_OK(ABT_thread_free(&t));
  EXPECT_TRUE(ran);
}

TEST(ABT_xstream_revive, refuses_a_running_stream_and_none) {
  const runtime rt;
  const streams es(1);
  EXPECT_ABT(ABT_ERR_INV_XSTREAM, ABT_xstream_revive(es[0]));
  EXPECT_ABT(ABT_ERR_INV_XSTREAM, ABT_xstream_revive(self_xstream()));
  EXPECT_ABT(ABT_ERR_INV_XSTREAM, ABT_xstream_revive(ABT_XSTREAM_NULL));
  EXPECT_ABT(ABT_ERR_INV_XSTREAM, ABT_xstream_revive(nullptr));
}

TEST(ABT_xstream_exit, ends_the_caller_and_its_stream) {
  const runtime rt;
  const streams es(1);
  std::atomic<bool> before = false;
  std::atomic<bool> after = false;
  in_thread(
      [&] {
        before = true;
        EXPECT_OK(ABT_xstream_exit());
        after = true;
      },
      es.pool(0));
  EXPECT_TRUE(before);
  yield_until([&es] { return state_of(es[0]) == ABT_XSTREAM_STATE_TERMINATED; });
  EXPECT_FALSE(after);
  EXPECT_OK(ABT_xstream_join(es[0]));
  EXPECT_OK(ABT_xstream_revive(es[0]));
  EXPECT_EQ(run_many(es.pool(0), 2), 4);
}

TEST(ABT_xstream_exit, refuses_all_but_threads_of_secondary_streams) {
  EXPECT_ABT(ABT_ERR_UNINITIALIZED, ABT_xstream_exit());
  {
    const runtime rt;
    const streams es(1);
    EXPECT_ABT(ABT_ERR_INV_XSTREAM, ABT_xstream_exit());
    in_thread([] { EXPECT_ABT(ABT_ERR_INV_XSTREAM, ABT_xstream_exit()); });
    in_tasklet([] { EXPECT_ABT(ABT_ERR_INV_THREAD, ABT_xstream_exit()); }, es.pool(0));
    in_kernel_thread([] { EXPECT_ABT(ABT_ERR_INV_XSTREAM, ABT_xstream_exit()); });
  }
  EXPECT_ABT(ABT_ERR_UNINITIALIZED, ABT_xstream_exit());
}

TEST(ABT_xstream_cancel, stops_with_work_left) {
  const runtime rt;
  std::atomic<bool> stop = false;
  std::atomic<bool> started = false;
  body f = [&] {
    started = true;
    while (!stop)
      EXPECT_OK(ABT_thread_yield());
  };
  ABT_pool pool = make_pool();
  ABT_xstream es = ABT_XSTREAM_NULL;
  ASSERT_OK(ABT_xstream_create_basic(ABT_SCHED_BASIC, 1, &pool, ABT_SCHED_CONFIG_NULL, &es));
  ABT_thread t = make_thread(pool, f);
  yield_until([&started] { return started.load(); });
  EXPECT_OK(ABT_xstream_cancel(es));
  yield_until([es] { return state_of(es) == ABT_XSTREAM_STATE_TERMINATED; });
  std::size_t left = 0;
  EXPECT_OK(ABT_pool_get_size(pool, &left));
  EXPECT_EQ(left, 1U);

  stop = true; // and another stream ends it
  ABT_xstream second = ABT_XSTREAM_NULL;
  ASSERT_OK(ABT_xstream_create_basic(ABT_SCHED_BASIC, 1, &pool, ABT_SCHED_CONFIG_NULL, &second));
  EXPECT_OK(ABT_thread_free(&t));
  EXPECT_OK(ABT_xstream_free(&es));
  EXPECT_OK(ABT_xstream_free(&second));
  EXPECT_OK(ABT_pool_free(&pool));
}

TEST(ABT_xstream_cancel, ends_an_idle_stream_that_can_be_revived) {
  const runtime rt;
  const streams es(1);
  EXPECT_OK(ABT_xstream_cancel(es[0]));
  EXPECT_OK(ABT_xstream_join(es[0]));
  EXPECT_OK(ABT_xstream_revive(es[0]));
  EXPECT_EQ(run_many(es.pool(0), 5), 10);
}

TEST(ABT_xstream_cancel, refuses_no_stream_and_the_primary) {
  const runtime rt;
  EXPECT_ABT(ABT_ERR_INV_XSTREAM, ABT_xstream_cancel(ABT_XSTREAM_NULL));
  EXPECT_ABT(ABT_ERR_INV_XSTREAM, ABT_xstream_cancel(nullptr));
  EXPECT_ABT(ABT_ERR_INV_XSTREAM, ABT_xstream_cancel(self_xstream()));
}

TEST(ABT_xstream_get_state, tells_running_from_terminated) {
  const runtime rt;
  const streams es(1);
  EXPECT_EQ(state_of(self_xstream()), ABT_XSTREAM_STATE_RUNNING);
  EXPECT_EQ(state_of(es[0]), ABT_XSTREAM_STATE_RUNNING);
  EXPECT_OK(ABT_xstream_join(es[0]));
  EXPECT_EQ(state_of(es[0]), ABT_XSTREAM_STATE_TERMINATED);
}

TEST(ABT_xstream_get_state, refuses_no_stream) {
  const runtime rt;
  ABT_xstream_state state = ABT_XSTREAM_STATE_RUNNING;
  EXPECT_ABT(ABT_ERR_INV_XSTREAM, ABT_xstream_get_state(ABT_XSTREAM_NULL, &state));
  EXPECT_ABT(ABT_ERR_INV_XSTREAM, ABT_xstream_get_state(nullptr, &state));
}

} // namespace
