// SPDX-License-Identifier: MIT
// ABT_self_schedule: a ULT runs units as its children, as a small scheduler of its own.
#include "units.hpp"

namespace abt_test {
namespace {

TEST(ABT_self_schedule, units_of_every_kind) {
  const runtime rt;
  const own_pool pool;
  std::string order;
  body ends = [&] { order += 'e'; };
  body yields = [&] {
    order += 'y';
    EXPECT_OK(ABT_self_yield());
    order += 'Y';
  };
  body blocks = [&] {
    order += 'b';
    EXPECT_OK(ABT_self_suspend());
    order += 'B';
  };
  body leaves = [&] {
    order += 'l';
    EXPECT_OK(ABT_self_exit());
  };
  ABT_thread t[] = {new_thread(pool, ends), new_task(pool, ends), new_thread(pool, yields),
                    new_thread(pool, blocks), new_thread(pool, leaves)};
  in_thread([&] {
    const ABT_thread own = self();
    for (ABT_thread next = pool.pop(); next != ABT_THREAD_NULL; next = pool.pop()) {
      EXPECT_OK(ABT_self_schedule(next, ABT_POOL_NULL));
      EXPECT_EQ(self(), own);
      EXPECT_EQ(state_of(own), ABT_THREAD_STATE_RUNNING);
    }
  });
  EXPECT_EQ(order, "eeyblY");
  const ABT_thread_state ended = ABT_THREAD_STATE_TERMINATED;
  const ABT_thread_state expected[] = {ended, ended, ended, ABT_THREAD_STATE_BLOCKED, ended};
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(state_of(t[i]), expected[i]);
  EXPECT_OK(ABT_thread_resume(t[3]));
  pool.run_all();
  EXPECT_EQ(order, "eeyblYB");
  EXPECT_OK(ABT_thread_free_many(5, t));
}

TEST(ABT_self_schedule, unnamed_units) {
  const runtime rt;
  const own_pool pool;
  std::atomic<int> destroyed = 0;
  const own_key key(count);
  body f = [&] {
    EXPECT_OK(ABT_self_set_specific(key, &destroyed));
    EXPECT_OK(ABT_thread_yield());
  };
  ASSERT_OK(ABT_thread_create(pool, run_function, &f, ABT_THREAD_ATTR_NULL, nullptr));
  ASSERT_OK(ABT_task_create(pool, run_function, &f, nullptr));
  pool.run_all();
  EXPECT_EQ(destroyed, 2);
}

TEST(ABT_self_schedule, associates_with_the_pool_first) {
  const runtime rt;
  const own_pool a;
  const user_pool b;
  body f = [&] {
    EXPECT_EQ(last_pool_of(self()), b);
    EXPECT_OK(ABT_self_yield());
  };
  ABT_thread t = new_thread(a, f);
  EXPECT_OK(ABT_self_schedule(a.pop(), b));
  EXPECT_EQ(b.units(), 1);
  EXPECT_EQ(b.size(), 1U);
  EXPECT_OK(ABT_self_schedule(b.pop(), b)); // it is there already
  EXPECT_EQ(b.made(), 1);
  EXPECT_OK(ABT_thread_free(&t));
}

TEST(ABT_self_schedule, children_of_children) {
  const runtime rt;
  const own_pool pool;
  int deepest = 0;
  std::function<void(int)> descend = [&](int depth) {
    deepest = depth;
    if (depth == 10)
      return;
    body f = [&, depth] {
      descend(depth + 1);
      EXPECT_OK(ABT_self_yield()); // to the parent, which runs it again
    };
    ABT_thread t = new_thread(pool, f);
    pool.run_all();
    EXPECT_OK(ABT_thread_free(&t));
  };
  descend(0);
  EXPECT_EQ(deepest, 10);
}

TEST(ABT_self_schedule, a_switch_among_children_keeps_the_parent) {
  const runtime rt;
  const own_pool pool;
  std::string order;
  ABT_thread second = ABT_THREAD_NULL;
  body g = [&] {
    order += 'g';
    EXPECT_OK(ABT_self_yield()); // to the parent of the one that yielded to it
    order += 'G';
  };
  body f = [&] {
    order += 'f';
    EXPECT_EQ(pool.pop(), second);
    EXPECT_OK(ABT_self_yield_to(second));
    order += 'F';
  };
  ABT_thread first = new_thread(pool, f);
  second = new_thread(pool, g);
  EXPECT_OK(ABT_self_schedule(pool.pop(), ABT_POOL_NULL));
  EXPECT_EQ(order, "fg");
  pool.run_all();
  EXPECT_EQ(order, "fgFG");
  free_all({&first, &second});
}

TEST(ABT_self_schedule, a_scheduler_thread_on_each_stream) {
  const runtime rt;
  const streams es(2);
  const own_pool pool; // shared by two ULTs that schedule
  std::atomic<int> ended = 0;
  body work = [&] {
    for (int i = 0; i < 10; ++i)
      EXPECT_OK(ABT_thread_yield()); // nothing in a tasklet
    ++ended;
  };
  std::vector<ABT_thread> units;
  for (int i = 0; i < 200; ++i)
    units.push_back(i % 4 == 0 ? new_task(pool, work) : new_thread(pool, work));
  body schedule = [&] {
    while (ended < 200) {
      const ABT_thread t = pool.pop();
      if (t != ABT_THREAD_NULL) {
        EXPECT_OK(ABT_self_schedule(t, ABT_POOL_NULL));
      }
      EXPECT_OK(ABT_self_yield());
    }
  };
  ABT_thread a = new_thread(es.pool(0), schedule);
  ABT_thread b = new_thread(es.pool(1), schedule);
  free_all({&a, &b});
  for (ABT_thread& t : units)
    EXPECT_OK(ABT_thread_free(&t));
}

// A joiner that runs as a child leaves to its parent, and goes on when what it waits for has ended.
template <class Pool>
void children_join_children() {
  const runtime rt;
  const Pool pool;
  std::string order;
  body leaf = [&] { order += 'l'; };
  body yields = [&] {
    order += 'y';
    EXPECT_OK(ABT_self_yield());
    order += 'Y';
  };
  body joins = [&] {
    ABT_thread t[] = {new_thread(pool, leaf), new_thread(pool, yields), new_task(pool, leaf)};
    order += 'j';
    for (ABT_thread& each : t) {
      EXPECT_OK(ABT_thread_free(&each));
      EXPECT_EQ(each, ABT_THREAD_NULL);
    }
    order += 'J';
  };
  ABT_thread t = new_thread(pool, joins);
  in_thread([&] {
    for (ABT_thread next = pool.pop(); next != ABT_THREAD_NULL; next = pool.pop())
      EXPECT_OK(ABT_self_schedule(next, ABT_POOL_NULL));
  });
  EXPECT_EQ(order, "jlylYJ");
  EXPECT_EQ(state_of(t), ABT_THREAD_STATE_TERMINATED);
  EXPECT_OK(ABT_thread_free(&t));
}
TEST(ABT_self_schedule, children_join_children) {
  children_join_children<own_pool>();
}
TEST(ABT_self_schedule, children_of_a_users_pool_join_children) {
  children_join_children<user_pool>();
}

TEST(ABT_self_schedule, a_child_that_is_cancelled) {
  const runtime rt;
  const own_pool pool;
  std::atomic<int> ran = 0;
  ABT_thread t = ABT_THREAD_NULL;
  ASSERT_OK(ABT_thread_create(pool, count, &ran, ABT_THREAD_ATTR_NULL, &t));
  EXPECT_OK(ABT_thread_cancel(t));
  EXPECT_OK(ABT_self_schedule(pool.pop(), ABT_POOL_NULL));
  EXPECT_EQ(state_of(t), ABT_THREAD_STATE_TERMINATED);
  EXPECT_EQ(ran, 0);
  EXPECT_OK(ABT_thread_free(&t));
}

TEST(ABT_self_schedule, refuses_null_thread) {
  const runtime rt;
  for (const ABT_thread null : null_threads)
    EXPECT_ABT(ABT_ERR_INV_THREAD, ABT_self_schedule(null, ABT_POOL_NULL));
}

TEST(ABT_self_schedule, refuses_callers_that_are_no_thread) {
  const runtime rt;
  const own_pool pool;
  body f = [] {};
  ABT_thread t = new_thread(pool, f);
  EXPECT_EQ(pool.pop(), t);
  const auto call = [&] { return ABT_self_schedule(t, ABT_POOL_NULL); };
  EXPECT_ABT(ABT_ERR_INV_THREAD, from_tasklet(call));
  EXPECT_ABT(ABT_ERR_INV_XSTREAM, from_kernel_thread(call));
  EXPECT_OK(call());
  EXPECT_OK(ABT_thread_free(&t));
}

TEST(ABT_self_schedule, refuses_when_the_pool_makes_no_unit) {
  const runtime rt;
  const own_pool pool;
  const user_pool none(0);
  std::atomic<int> ran = 0;
  ABT_thread t = ABT_THREAD_NULL;
  ASSERT_OK(ABT_thread_create(pool, count, &ran, ABT_THREAD_ATTR_NULL, &t));
  EXPECT_EQ(pool.pop(), t);
  EXPECT_ABT(no_unit_made, ABT_self_schedule(t, none));
  EXPECT_EQ(ran, 0);
  EXPECT_EQ(last_pool_of(t), pool);
  EXPECT_OK(ABT_self_schedule(t, ABT_POOL_NULL));
  EXPECT_OK(ABT_thread_free(&t));
}

} // namespace
} // namespace abt_test
