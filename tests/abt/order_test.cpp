// SPDX-License-Identifier: MIT
// Who runs when, where a stream has ways that are short: units without a name, threads that run at once,
// revived ones, tasklets before a thread's next turn. Everything on the primary stream, in a FIFO pool.
#include <string>

#include "units.hpp"

namespace abt_test {
namespace {

// What has run, a letter each.
std::string log;

template <char Letter>
void note(void*) {
  log += Letter;
}

// A RANDWS pool of its own, which the primary stream takes units from.
ABT_pool randws_pool() {
  ABT_pool pool = ABT_POOL_NULL;
  EXPECT_OK(ABT_pool_create_basic(ABT_POOL_RANDWS, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &pool));
  EXPECT_OK(ABT_xstream_set_main_sched_basic(self_xstream(), ABT_SCHED_DEFAULT, 1, &pool));
  return pool;
}

TEST(ABT_thread_create, unnamed_ones_run_in_order) {
  const runtime rt;
  log.clear();
  ABT_thread named = ABT_THREAD_NULL;
  EXPECT_OK(ABT_thread_create(self_pool(), note<'a'>, nullptr, ABT_THREAD_ATTR_NULL, nullptr));
  EXPECT_OK(ABT_task_create(self_pool(), note<'b'>, nullptr, nullptr));
  EXPECT_OK(ABT_thread_create(self_pool(), note<'c'>, nullptr, ABT_THREAD_ATTR_NULL, &named));
  EXPECT_OK(ABT_thread_create(self_pool(), note<'d'>, nullptr, ABT_THREAD_ATTR_NULL, nullptr));
  EXPECT_OK(ABT_thread_yield());
  EXPECT_EQ(log, "abcd");
  EXPECT_OK(ABT_thread_free(&named));
}

TEST(ABT_thread_create, thousands_of_unnamed_ones_leave_nothing) {
  const runtime rt;
  std::atomic<int> ran = 0;
  for (int i = 0; i < 3000; ++i) {
    EXPECT_OK(ABT_thread_create(self_pool(), count, &ran, ABT_THREAD_ATTR_NULL, nullptr));
    EXPECT_OK(ABT_task_create(self_pool(), count, &ran, nullptr));
  }
  EXPECT_OK(ABT_thread_yield());
  yield_until([&] { return ran == 6000; });
  std::size_t left = 1;
  EXPECT_OK(ABT_pool_get_total_size(self_pool(), &left)); // the primary ULT does not count
  EXPECT_EQ(left, 0U);
}

// Its end is told to whoever holds its handle, and the key's destructor runs.
TEST(ABT_thread_create, an_unnamed_one_that_was_asked_for_more_ends_as_well) {
  const runtime rt;
  static int destroyed;
  destroyed = 0;
  ABT_key key = ABT_KEY_NULL;
  EXPECT_OK(ABT_key_create([](void*) { ++destroyed; }, &key));
  body f = [&key] {
    ABT_thread self = ABT_THREAD_NULL;
    EXPECT_OK(ABT_self_get_thread(&self));
    ABT_bool unnamed = ABT_FALSE;
    EXPECT_OK(ABT_thread_is_unnamed(self, &unnamed));
    EXPECT_EQ(unnamed, ABT_TRUE);
    EXPECT_OK(ABT_key_set(key, &key));
  };
  EXPECT_OK(ABT_thread_create(self_pool(), run_function, &f, ABT_THREAD_ATTR_NULL, nullptr));
  EXPECT_OK(ABT_thread_yield());
  EXPECT_EQ(destroyed, 1);
  EXPECT_OK(ABT_key_free(&key));
}

TEST(ABT_thread_create_to, runs_at_once_and_its_creator_behind_the_others) {
  const runtime rt;
  log.clear();
  ABT_thread to = ABT_THREAD_NULL;
  EXPECT_OK(ABT_thread_create(self_pool(), note<'b'>, nullptr, ABT_THREAD_ATTR_NULL, nullptr));
  EXPECT_OK(ABT_thread_create_to(self_pool(), note<'a'>, nullptr, ABT_THREAD_ATTR_NULL, &to));
  note<'c'>(nullptr);
  EXPECT_OK(ABT_thread_create_to(self_pool(), note<'d'>, nullptr, ABT_THREAD_ATTR_NULL, nullptr));
  EXPECT_EQ(log, "abcd");
  EXPECT_OK(ABT_thread_free(&to));
}

TEST(ABT_thread_create_to, one_that_waits_and_one_that_yields) {
  const runtime rt;
  log.clear();
  ABT_thread yields = ABT_THREAD_NULL;
  body f = [] {
    log += '1';
    EXPECT_OK(ABT_thread_yield());
    log += '3';
    in_thread([] { log += '4'; });
  };
  EXPECT_OK(ABT_thread_create_to(self_pool(), run_function, &f, ABT_THREAD_ATTR_NULL, &yields));
  log += '2';
  EXPECT_OK(ABT_thread_free(&yields));
  EXPECT_EQ(log, "1234");
}

TEST(ABT_thread_yield, tasklets_before_the_next_thread_run_first) {
  const runtime rt;
  log.clear();
  EXPECT_OK(ABT_task_create(self_pool(), note<'a'>, nullptr, nullptr));
  EXPECT_OK(ABT_task_create(self_pool(), note<'b'>, nullptr, nullptr));
  EXPECT_OK(ABT_thread_create(self_pool(), note<'c'>, nullptr, ABT_THREAD_ATTR_NULL, nullptr));
  EXPECT_OK(ABT_task_create(self_pool(), note<'d'>, nullptr, nullptr));
  EXPECT_OK(ABT_thread_yield());
  EXPECT_EQ(log, "abcd");
}

// They stand behind the caller, who has his turn.
TEST(ABT_thread_yield, tasklets_that_tasklets_make_run_after_the_caller) {
  const runtime rt;
  log.clear();
  body again = [&again] {
    log += 't';
    if (log.size() < 100) {
      EXPECT_OK(ABT_task_create(self_pool(), run_function, &again, nullptr));
    }
  };
  EXPECT_OK(ABT_task_create(self_pool(), run_function, &again, nullptr));
  EXPECT_OK(ABT_thread_yield());
  EXPECT_EQ(log, "t");
  yield_until([] { return log.size() == 100; });
}

TEST(ABT_thread_yield, tasklets_know_who_they_are) {
  const runtime rt;
  ABT_thread me = ABT_THREAD_NULL;
  EXPECT_OK(ABT_self_get_thread(&me));
  ABT_task made = ABT_TASK_NULL;
  bool seen = false;
  body f = [&] {
    ABT_task self = ABT_TASK_NULL;
    EXPECT_OK(ABT_self_get_task(&self));
    seen = self == made;
  };
  EXPECT_OK(ABT_task_create(self_pool(), run_function, &f, &made));
  EXPECT_OK(ABT_thread_yield());
  EXPECT_TRUE(seen);
  ABT_thread after = ABT_THREAD_NULL;
  EXPECT_OK(ABT_self_get_thread(&after));
  EXPECT_EQ(after, me);
  EXPECT_OK(ABT_task_free(&made));
}

template <class Unit>
void expect_lives(int lives, int (*revive)(ABT_pool, void (*)(void*), void*, Unit*), int (*join)(Unit),
                  Unit& u) {
  std::atomic<int> ran = 0;
  ABT_pool other = ABT_POOL_NULL;
  EXPECT_OK(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &other));
  ABT_pool both[] = {self_pool(), other};
  EXPECT_OK(ABT_xstream_set_main_sched_basic(self_xstream(), ABT_SCHED_DEFAULT, 2, both));
  for (int life = 0; life < lives; ++life) {
    EXPECT_OK(revive(both[life % 3 == 2 ? 1 : 0], count, &ran, &u));
    if (life % 2 == 0) {
      EXPECT_OK(ABT_thread_yield());
    }
    EXPECT_OK(join(u));
    EXPECT_EQ(ran, life + 1);
  }
}

TEST(ABT_thread_revive, many_lives_in_two_pools) {
  const runtime rt;
  ABT_thread t = ABT_THREAD_NULL;
  EXPECT_OK(ABT_thread_create(self_pool(), nothing, nullptr, ABT_THREAD_ATTR_NULL, &t));
  EXPECT_OK(ABT_thread_join(t));
  expect_lives<ABT_thread>(30, &ABT_thread_revive, &ABT_thread_join, t);
  EXPECT_OK(ABT_thread_free(&t));
}

TEST(ABT_task_revive, many_lives_in_two_pools) {
  const runtime rt;
  ABT_task t = ABT_TASK_NULL;
  EXPECT_OK(ABT_task_create(self_pool(), nothing, nullptr, &t));
  EXPECT_OK(ABT_task_join(t));
  expect_lives<ABT_task>(30, &ABT_task_revive, &ABT_task_join, t);
  EXPECT_OK(ABT_task_free(&t));
}

// Of a pool that others take from too: the joiner runs it, or finds that it has ended, or that it was called
// off.
TEST(ABT_task_free, of_a_pool_that_others_use) {
  const runtime rt;
  for (const ABT_pool_kind kind : {ABT_POOL_FIFO, ABT_POOL_RANDWS}) {
    std::atomic<int> ran = 0;
    ABT_pool pool = ABT_POOL_NULL;
    EXPECT_OK(ABT_pool_create_basic(kind, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &pool));
    ABT_pool both[] = {pool, self_pool()};
    EXPECT_OK(ABT_xstream_set_main_sched_basic(self_xstream(), ABT_SCHED_DEFAULT, 2, both));
    for (int i = 0; i < 12; ++i) {
      ABT_task t = ABT_TASK_NULL;
      EXPECT_OK(ABT_task_create(pool, count, &ran, &t));
      if (i % 4 == 1) {
        EXPECT_OK(ABT_thread_yield());
      } else if (i % 4 == 2) {
        EXPECT_OK(ABT_task_cancel(t));
      } else if (i % 4 == 3) {
        EXPECT_OK(ABT_task_join(t));
      }
      EXPECT_OK(ABT_task_free(&t));
      EXPECT_EQ(t, ABT_TASK_NULL);
    }
    EXPECT_EQ(ran, 9);
    std::size_t left = 1;
    EXPECT_OK(ABT_pool_get_total_size(pool, &left));
    EXPECT_LE(left, 1U); // the primary ULT's first pool may be this one
  }
}

// One with local storage runs its destructors at the join.
TEST(ABT_task_free, of_one_that_has_set_a_key) {
  const runtime rt;
  static int destroyed;
  destroyed = 0;
  ABT_key key = ABT_KEY_NULL;
  EXPECT_OK(ABT_key_create([](void*) { ++destroyed; }, &key));
  ABT_pool pool = randws_pool();
  body f = [&key] { EXPECT_OK(ABT_key_set(key, &key)); };
  ABT_task t = ABT_TASK_NULL;
  EXPECT_OK(ABT_task_create(pool, run_function, &f, &t));
  EXPECT_OK(ABT_task_free(&t));
  EXPECT_EQ(destroyed, 1);
  EXPECT_OK(ABT_key_free(&key));
}

TEST(ABT_thread_free, whoever_is_joined_in_a_randws_pool_runs) {
  const runtime rt;
  ABT_pool pool = randws_pool();
  log.clear();
  ABT_thread t[3];
  EXPECT_OK(ABT_thread_create(pool, note<'a'>, nullptr, ABT_THREAD_ATTR_NULL, &t[0]));
  EXPECT_OK(ABT_thread_create(pool, note<'b'>, nullptr, ABT_THREAD_ATTR_NULL, &t[1]));
  EXPECT_OK(ABT_thread_create(pool, note<'c'>, nullptr, ABT_THREAD_ATTR_NULL, &t[2]));
  for (ABT_thread& one : t)
    EXPECT_OK(ABT_thread_free(&one));
  EXPECT_EQ(log.size(), 3U);
  for (const char c : {'a', 'b', 'c'})
    EXPECT_NE(log.find(c), std::string::npos);
}

} // namespace
} // namespace abt_test
