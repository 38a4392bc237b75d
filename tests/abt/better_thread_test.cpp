// SPDX-License-Identifier: MIT
// Where upstream's threads are weak or leave things undefined, and ours are not. These tests are for our
// library only: with upstream most of them fail, and some crash.
#include <algorithm>
#include <cstring>

#include "units.hpp"

namespace abt_test {
namespace {

using function = void (*)(void*);

// Everybody's chance to run what should not be there.
void yield_often() {
  for (int i = 0; i < 100; ++i)
    EXPECT_OK(ABT_thread_yield());
}

TEST(better_than_upstream, thread_stack_sizes_of_any_value) {
  const runtime rt;
  std::atomic<int> ran = 0;
  for (const std::size_t bytes : {0, 1, 100, 4097, 12345}) { // 0: the default; the others: at least that
    const sized_attributes attr(bytes);
    std::size_t by_default = 0;
    EXPECT_OK(ABT_info_query_config(ABT_INFO_QUERY_KIND_DEFAULT_THREAD_STACKSIZE, &by_default));
    ABT_thread t = ABT_THREAD_NULL;
    ASSERT_OK(ABT_thread_create(self_pool(), count, &ran, attr, &t));
    EXPECT_OK(ABT_thread_join(t));
    std::size_t size = 0;
    EXPECT_OK(ABT_thread_get_stacksize(t, &size));
    EXPECT_GE(size, bytes == 0 ? by_default : bytes);
    EXPECT_OK(ABT_thread_free(&t));
  }
  EXPECT_EQ(ran, 5);
}

// Asks for four threads, of which one cannot be: nothing may be left, not even for a moment.
void expect_none_created(int code, ABT_pool* pools, ABT_thread_attr attr) {
  std::atomic<int> ran = 0;
  function functions[] = {count, count, count, count};
  void* args[] = {&ran, &ran, &ran, &ran};
  ABT_thread t[4];
  std::fill(std::begin(t), std::end(t), untouched<ABT_thread>());
  EXPECT_ABT(code, ABT_thread_create_many(4, pools, functions, args, attr, t));
  for (const ABT_thread one : t)
    EXPECT_EQ(one, ABT_THREAD_NULL);
  EXPECT_ABT(code, ABT_thread_create_many(4, pools, functions, args, attr, nullptr));
  yield_often();
  EXPECT_EQ(ran, 0);
}

TEST(better_than_upstream, thread_create_many_without_memory_leaves_nothing) {
  const runtime rt;
  const sized_attributes attr(too_large);
  ABT_pool pools[] = {self_pool(), self_pool(), self_pool(), self_pool()};
  expect_none_created(ABT_ERR_MEM, pools, attr);
}

TEST(better_than_upstream, thread_create_many_with_a_null_pool_leaves_nothing) {
  const runtime rt;
  const streams es(1);
  for (const ABT_pool null : null_pools) {
    ABT_pool pools[] = {self_pool(), es.pool(0), null, self_pool()};
    expect_none_created(ABT_ERR_INV_POOL, pools, ABT_THREAD_ATTR_NULL);
  }
}

TEST(better_than_upstream, thread_create_many_with_too_few_units_leaves_nothing) {
  const runtime rt;
  const streams es(1);
  for (const ABT_unit refusal : null_units) {
    user_pool pool(2, refusal);
    ABT_pool pools[] = {pool, pool, pool, self_pool()};
    std::atomic<int> ran = 0;
    function functions[] = {count, count, count, count};
    void* args[] = {&ran, &ran, &ran, &ran};
    ABT_thread t[4] = {};
    EXPECT_ABT(no_unit_made, ABT_thread_create_many(4, pools, functions, args, ABT_THREAD_ATTR_NULL, t));
    EXPECT_EQ(pool.made(), 2); // it got so far, and
    EXPECT_EQ(pool.units(), 0);
    EXPECT_EQ(pool.size(), 0U);
    for (const ABT_thread one : t)
      EXPECT_EQ(one, ABT_THREAD_NULL);
    ABT_pool mixed[] = {self_pool(), es.pool(0), pool, pool};
    pool.make(1);
    EXPECT_ABT(no_unit_made,
               ABT_thread_create_many(4, mixed, functions, args, ABT_THREAD_ATTR_NULL, nullptr));
    EXPECT_EQ(pool.units(), 0);
    yield_often();
    EXPECT_EQ(ran, 0);
  }
}

TEST(better_than_upstream, a_unit_of_0_is_no_unit) {
  const runtime rt;
  const user_pool pool(0, nullptr);
  ABT_thread t = untouched<ABT_thread>();
  EXPECT_ABT(no_unit_made, ABT_thread_create(pool, nothing, nullptr, ABT_THREAD_ATTR_NULL, &t));
  EXPECT_EQ(t, ABT_THREAD_NULL);
}

TEST(better_than_upstream, thread_join_many_and_free_many_report_an_error_and_go_on) {
  const runtime rt;
  std::atomic<int> ran = 0;
  ABT_thread t[3] = {ABT_THREAD_NULL, self(), ABT_THREAD_NULL}; // nobody can join itself
  ASSERT_OK(ABT_thread_create(self_pool(), count, &ran, ABT_THREAD_ATTR_NULL, &t[0]));
  ASSERT_OK(ABT_thread_create(self_pool(), count, &ran, ABT_THREAD_ATTR_NULL, &t[2]));
  EXPECT_ABT(ABT_ERR_INV_THREAD, ABT_thread_join_many(3, t));
  EXPECT_EQ(ran, 2);
  EXPECT_ABT(ABT_ERR_INV_THREAD, ABT_thread_free_many(3, t));
  EXPECT_EQ(t[0], ABT_THREAD_NULL);
  EXPECT_EQ(t[2], ABT_THREAD_NULL);
}

// What is left of a handle says so, until another unit gets the place.
TEST(better_than_upstream, a_freed_thread_is_noticed) {
  const runtime rt;
  const own_key key;
  for (const bool tasklet : {false, true}) {
    ABT_thread t = tasklet ? ended_task() : ended_thread();
    ABT_thread stale = t;
    EXPECT_OK(ABT_thread_free(&t));
    ABT_thread_state state = ABT_THREAD_STATE_READY;
    ABT_unit_id id = 0;
    ABT_pool pool = ABT_POOL_NULL;
    ABT_unit unit = ABT_UNIT_NULL;
    ABT_bool flag = ABT_FALSE;
    ABT_thread_attr attr = ABT_THREAD_ATTR_NULL;
    void* address = nullptr;
    EXPECT_ABT(ABT_ERR_INV_THREAD, ABT_thread_join(stale));
    EXPECT_ABT(ABT_ERR_INV_THREAD, ABT_thread_cancel(stale));
    EXPECT_ABT(ABT_ERR_INV_THREAD, ABT_thread_resume(stale));
    EXPECT_ABT(ABT_ERR_INV_THREAD, ABT_thread_yield_to(stale));
    EXPECT_ABT(ABT_ERR_INV_THREAD, ABT_thread_get_state(stale, &state));
    EXPECT_ABT(ABT_ERR_INV_THREAD, ABT_thread_get_id(stale, &id));
    EXPECT_ABT(ABT_ERR_INV_THREAD, ABT_thread_get_last_pool(stale, &pool));
    EXPECT_ABT(ABT_ERR_INV_THREAD, ABT_thread_get_unit(stale, &unit));
    EXPECT_ABT(ABT_ERR_INV_THREAD, ABT_thread_is_unnamed(stale, &flag));
    EXPECT_ABT(ABT_ERR_INV_THREAD, ABT_thread_is_migratable(stale, &flag));
    EXPECT_ABT(ABT_ERR_INV_THREAD, ABT_thread_migrate_to_pool(stale, self_pool()));
    EXPECT_ABT(ABT_ERR_INV_THREAD, ABT_thread_get_attr(stale, &attr));
    EXPECT_ABT(ABT_ERR_INV_THREAD, ABT_thread_get_stack(stale, &address, nullptr));
    EXPECT_ABT(ABT_ERR_INV_THREAD, ABT_thread_get_arg(stale, &address));
    EXPECT_ABT(ABT_ERR_INV_THREAD, ABT_thread_set_specific(stale, key, &id));
    EXPECT_ABT(ABT_ERR_INV_THREAD, ABT_thread_get_specific(stale, key, &address));
    EXPECT_ABT(ABT_ERR_INV_THREAD, ABT_thread_revive(self_pool(), nothing, nullptr, &stale));
    EXPECT_ABT(ABT_ERR_INV_THREAD, ABT_self_schedule(stale, ABT_POOL_NULL));
    EXPECT_ABT(ABT_ERR_INV_TASK, ABT_task_join(stale));
    ABT_thread twice = stale;
    EXPECT_ABT(ABT_ERR_INV_THREAD, ABT_thread_free(&twice));
  }
}

// noinline, and not turned into a loop: each call takes a frame.
[[gnu::noinline]] int devour(volatile char* above, int depth) {
  volatile char frame[512];
  std::memset(const_cast<char*>(frame), depth, sizeof frame);
  if (depth == 0)
    return above[0];
  const int below = devour(frame, depth - 1);
  asm volatile("" : : : "memory"); // something is left to do here, so the call is one
  return below + frame[depth % 512];
}
void overflow(void*) {
  volatile char here = 1;
  std::size_t size = 0;
  EXPECT_OK(ABT_thread_get_stacksize(self(), &size));
  devour(&here, static_cast<int>(size / 256)); // beyond the reserve below it, too
}

TEST(better_than_upstream, an_overflow_of_the_default_stack_is_noticed) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        const runtime rt;
        ABT_thread t = ABT_THREAD_NULL;
        ABT_thread_create(self_pool(), overflow, nullptr, ABT_THREAD_ATTR_NULL, &t);
        ABT_thread_yield(); // on a stack of its own: ABT_thread_free() would call it on ours, which is large
        ABT_thread_free(&t);
      },
      "stack overflow");
  EXPECT_DEATH(
      {
        const runtime rt;
        const streams es(1);
        ABT_thread t = ABT_THREAD_NULL;
        ABT_thread_create(es.pool(0), overflow, nullptr, ABT_THREAD_ATTR_NULL, &t);
        ABT_thread_free(&t);
      },
      "stack overflow");
}

// Upstream notices the wish up to 0.1 s late, and takes half a minute for this.
TEST(better_than_upstream, idle_streams_are_joined_at_once) {
  const runtime rt;
  for (int i = 0; i < 300; ++i) {
    ABT_xstream es = ABT_XSTREAM_NULL;
    ASSERT_OK(ABT_xstream_create_basic(ABT_SCHED_BASIC_WAIT, 0, nullptr, ABT_SCHED_CONFIG_NULL, &es));
    std::atomic<int> ran = 0;
    ABT_thread t = ABT_THREAD_NULL;
    ASSERT_OK(ABT_thread_create_on_xstream(es, count, &ran, ABT_THREAD_ATTR_NULL, &t));
    EXPECT_OK(ABT_thread_free(&t));
    EXPECT_OK(ABT_xstream_join(es));
    EXPECT_OK(ABT_xstream_free(&es));
  }
}

TEST(better_than_upstream, ten_thousand_joins) {
  const runtime rt;
  const streams es(2);
  constexpr std::size_t many = 10000;
  std::atomic<int> ran = 0;
  std::vector<ABT_thread> t(many, ABT_THREAD_NULL);
  for (std::size_t i = 0; i < many; ++i)
    ASSERT_OK(ABT_thread_create(es.pool(i % 2), count, &ran, ABT_THREAD_ATTR_NULL, &t[i]));
  for (ABT_thread& one : t)
    EXPECT_OK(ABT_thread_join(one));
  EXPECT_EQ(ran, static_cast<int>(many));
  for (ABT_thread& one : t)
    EXPECT_OK(ABT_thread_free(&one));
}

TEST(better_than_upstream, a_kernel_thread_joins_a_thousand_units) {
  const runtime rt;
  const streams es(2);
  constexpr std::size_t many = 1000;
  const ABT_pool pools[] = {self_pool(), es.pool(0), es.pool(1)};
  std::atomic<int> ran = 0;
  body f = [&] {
    EXPECT_OK(ABT_thread_yield()); // nothing in a tasklet
    ++ran;
  };
  in_kernel_thread([&] {
    std::vector<ABT_thread> t;
    for (std::size_t i = 0; i < many; ++i)
      t.push_back(i % 5 == 0 ? new_task(pools[i % 3], f) : new_thread(pools[i % 3], f));
    for (ABT_thread& one : t) {
      EXPECT_OK(ABT_thread_join(one));
      EXPECT_EQ(state_of(one), ABT_THREAD_STATE_TERMINATED);
      EXPECT_OK(ABT_thread_free(&one));
    }
  });
  EXPECT_EQ(ran, static_cast<int>(many));
}

TEST(better_than_upstream, of_two_resumes_at_once_one_succeeds) {
  const runtime rt;
  const streams es(3);
  constexpr int rounds = 2000;
  std::atomic<int> resumes = 0;
  std::atomic<bool> ended = false;
  body sleeper = [&] {
    for (int i = 0; i < rounds; ++i)
      EXPECT_OK(ABT_self_suspend());
    ended = true;
  };
  ABT_thread t = new_thread(es.pool(0), sleeper);
  body resumer = [&] {
    while (!ended) {
      const int code = ABT_thread_resume(t);
      if (code == ABT_SUCCESS) {
        ++resumes;
      } else {
        EXPECT_ABT(ABT_ERR_THREAD, code);
      }
      EXPECT_OK(ABT_self_yield());
    }
  };
  ABT_thread a = new_thread(es.pool(1), resumer);
  ABT_thread b = new_thread(es.pool(2), resumer);
  free_all({&a, &b, &t}); // those that still name it first
  EXPECT_EQ(resumes, rounds);
}

// Who yields in a handler must find its own exception afterwards, also on another stream.
TEST(better_than_upstream, exceptions_stay_with_their_thread) {
  const runtime rt;
  const streams es(1);
  std::vector<body> f(20);
  std::vector<ABT_thread> t;
  for (std::size_t i = 0; i < f.size(); ++i) {
    f[i] = [&es, i] {
      const ABT_xstream targets[] = {es[0], self_xstream()};
      for (int k = 0; k < 20; ++k) {
        try {
          try {
            throw i;
          } catch (const std::size_t&) {
            EXPECT_OK(ABT_thread_migrate_to_xstream(self(), targets[k % 2]));
            EXPECT_OK(ABT_self_yield());
            throw; // what is being handled here
          }
        } catch (const std::size_t& mine) {
          EXPECT_EQ(mine, i);
        }
      }
    };
    t.push_back(new_thread(self_pool(), f[i]));
  }
  for (ABT_thread& one : t)
    EXPECT_OK(ABT_thread_free(&one));
}

// Migration.

TEST(better_than_upstream, thread_migrate_finds_a_running_stream) {
  const runtime rt;
  const streams es(3);
  EXPECT_OK(ABT_xstream_join(es[0]));
  const ABT_xstream home = self_xstream();
  ABT_xstream first = ABT_XSTREAM_NULL;
  ABT_xstream then = ABT_XSTREAM_NULL;
  body f = [&] {
    first = self_xstream();
    EXPECT_OK(ABT_thread_migrate(self()));
    EXPECT_OK(ABT_self_yield());
    then = self_xstream();
  };
  ABT_thread t = new_thread(self_pool(), f);
  EXPECT_OK(ABT_thread_migrate(t)); // has not run yet
  EXPECT_OK(ABT_thread_free(&t));
  EXPECT_TRUE(first == es[1] || first == es[2]);
  EXPECT_NE(then, first);
  EXPECT_TRUE(then == home || then == es[1] || then == es[2]);
}

TEST(better_than_upstream, thread_migrate_finds_no_stream_that_has_ended) {
  const runtime rt;
  const streams es(1);
  EXPECT_OK(ABT_xstream_join(es[0]));
  in_thread([] { EXPECT_ABT(ABT_ERR_MIGRATION_NA, ABT_thread_migrate(self())); });
}

TEST(better_than_upstream, a_migration_that_the_pool_refuses_is_reported) {
  const runtime rt;
  for (const ABT_unit refusal : null_units) {
    const user_pool none(0, refusal);
    std::atomic<int> calls = 0;
    std::atomic<int> ran = 0;
    ABT_thread t = ABT_THREAD_NULL;
    ASSERT_OK(ABT_thread_create(self_pool(), count, &ran, ABT_THREAD_ATTR_NULL, &t));
    EXPECT_OK(ABT_thread_set_callback(t, [](ABT_thread, void* counter) { count(counter); }, &calls));
    EXPECT_ABT(no_unit_made, ABT_thread_migrate_to_pool(t, none));
    EXPECT_OK(ABT_thread_join(t)); // where it was
    EXPECT_EQ(last_pool_of(t), self_pool());
    EXPECT_EQ(ran, 1);
    EXPECT_EQ(calls, 0);
    EXPECT_OK(ABT_thread_free(&t));
    in_thread([&] {
      EXPECT_ABT(no_unit_made, ABT_thread_migrate_to_pool(self(), none));
      EXPECT_OK(ABT_self_yield());
      EXPECT_EQ(last_pool_of(self()), self_pool());
    });
  }
}

TEST(better_than_upstream, a_migration_that_never_happens_leaves_no_unit) {
  const runtime rt;
  const user_pool replaced;
  const user_pool last;
  body f = [] {};
  ABT_thread t = new_thread(self_pool(), f);
  EXPECT_OK(ABT_thread_migrate_to_pool(t, replaced));
  EXPECT_OK(ABT_thread_migrate_to_pool(t, last));
  EXPECT_EQ(replaced.units(), 0);
  yield_until([&] { return last.size() == 1; });
  EXPECT_OK(ABT_self_schedule(last.pop(), ABT_POOL_NULL));
  EXPECT_OK(ABT_thread_free(&t));
  EXPECT_EQ(last.units(), 0);
  body ends = [&] { EXPECT_OK(ABT_thread_migrate_to_pool(self(), last)); }; // and does not yield
  t = new_thread(self_pool(), ends);
  EXPECT_OK(ABT_thread_free(&t));
  EXPECT_EQ(last.units(), 0);
  t = new_thread(self_pool(), f);
  EXPECT_OK(ABT_thread_migrate_to_pool(t, last));
  EXPECT_OK(ABT_thread_cancel(t)); // wins, or is obeyed in the new pool
  for (ABT_thread moved = ABT_THREAD_NULL; state_of(t) != ABT_THREAD_STATE_TERMINATED; moved = last.pop()) {
    if (moved != ABT_THREAD_NULL) {
      EXPECT_OK(ABT_self_schedule(moved, ABT_POOL_NULL));
    }
    EXPECT_OK(ABT_self_yield());
  }
  EXPECT_OK(ABT_thread_free(&t));
}

} // namespace
} // namespace abt_test
