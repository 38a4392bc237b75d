// SPDX-License-Identifier: MIT
// How a ULT gives way: to its parent, or straight to another ULT. Who yields returns to its pool, who
// suspends is in no pool. Targets of the _to functions were popped; those of the resume_ ones are blocked.
#include "units.hpp"
#include "user_defs.hpp"

namespace abt_test {
namespace {

// Two bodies that note what they do, in a pool that nobody serves: only direct switches run them.
class scene {
 public:
  scene() {
    fresh_ = [this] { note('f'); };
    twice_ = [this] {
      note('1');
      EXPECT_OK(ABT_self_yield());
      note('2');
    };
    sleeper_ = [this] {
      note('s');
      EXPECT_OK(ABT_self_suspend());
      note('S');
    };
  }
  // Popped, so that it can be switched to.
  ABT_thread fresh() { return popped(fresh_); }
  // Has begun, yielded and was popped again; has a '1' noted.
  ABT_thread started() {
    const ABT_thread t = popped(twice_);
    EXPECT_OK(ABT_self_schedule(t, ABT_POOL_NULL));
    EXPECT_EQ(pool.pop(), t);
    return t;
  }
  // Has begun and is blocked; has an 's' noted.
  ABT_thread blocked() {
    const ABT_thread t = popped(sleeper_);
    EXPECT_OK(ABT_self_schedule(t, ABT_POOL_NULL));
    EXPECT_EQ(state_of(t), ABT_THREAD_STATE_BLOCKED);
    return t;
  }
  void note(char c) { order += c; }

  own_pool pool;
  std::string order;

 private:
  ABT_thread popped(body& f) {
    const ABT_thread t = new_thread(pool, f);
    EXPECT_EQ(pool.pop(), t);
    return t;
  }

  body fresh_;
  body twice_;
  body sleeper_;
};

using switching = int (*)(ABT_thread);

// What every direct switch refuses; `blocked` when it wants a blocked target.
void expect_refusals(switching to, bool blocked) {
  const runtime rt;
  scene s;
  for (const ABT_thread null : null_threads)
    in_thread([&] { EXPECT_ABT(ABT_ERR_INV_THREAD, to(null)); });
  ABT_thread t = blocked ? s.blocked() : s.fresh();
  EXPECT_ABT(ABT_ERR_INV_THREAD, from_tasklet([&] { return to(t); }));
  EXPECT_ABT(ABT_ERR_INV_XSTREAM, from_kernel_thread([&] { return to(t); }));
  EXPECT_ABT(ABT_ERR_INV_THREAD, from_scheduler([&] { return to(t); }));
  body f = [] {};
  ABT_task task = new_task(s.pool, f);
  EXPECT_EQ(s.pool.pop(), task);
  own_scheduler other;
  const ABT_thread scheduler = other.thread();
  in_thread([&] {
    EXPECT_ABT(ABT_ERR_INV_THREAD, to(task));
    EXPECT_ABT(ABT_ERR_INV_THREAD, to(scheduler));
    if (!blocked) {
      EXPECT_ABT(ABT_ERR_INV_THREAD, to(self()));
    }
  });
  EXPECT_EQ(s.order, blocked ? "s" : ""); // the target was not touched
  EXPECT_EQ(state_of(t), blocked ? ABT_THREAD_STATE_BLOCKED : ABT_THREAD_STATE_READY);
  if (blocked) {
    EXPECT_OK(ABT_thread_resume(t));
    EXPECT_EQ(s.pool.pop(), t);
  }
  EXPECT_OK(ABT_self_schedule(t, ABT_POOL_NULL));
  EXPECT_OK(ABT_self_schedule(task, ABT_POOL_NULL));
  free_all({&t, &task});
}

TEST(ABT_self_yield, lets_the_others_of_the_pool_run) {
  const runtime rt;
  std::string order;
  body f = [&] {
    order += 'f';
    EXPECT_OK(ABT_self_yield());
    order += 'F';
  };
  body g = [&] { order += 'g'; };
  ABT_thread a = new_thread(self_pool(), f);
  ABT_thread b = new_thread(self_pool(), g);
  free_all({&a, &b});
  EXPECT_EQ(order, "fgF");
}

TEST(ABT_self_yield, the_primary_thread_goes_on_on_its_stream) {
  const runtime rt;
  const streams es(2);
  const ABT_xstream home = self_xstream();
  for (int i = 0; i < 100; ++i) {
    EXPECT_OK(ABT_self_yield());
    EXPECT_EQ(self_xstream(), home);
  }
}

TEST(ABT_self_yield, refuses_callers_that_cannot_yield) {
  const runtime rt;
  EXPECT_ABT(ABT_ERR_INV_THREAD, from_tasklet(ABT_self_yield));
  EXPECT_ABT(ABT_ERR_INV_XSTREAM, from_kernel_thread(ABT_self_yield));
}

TEST(ABT_self_yield_to, a_fresh_and_a_started_thread) {
  const runtime rt;
  scene s;
  ABT_thread started = s.started();
  ABT_thread fresh = s.fresh();
  in_thread([&] {
    s.note('a');
    EXPECT_OK(ABT_self_yield_to(fresh));
    s.note('b');
    EXPECT_OK(ABT_self_yield_to(started));
    s.note('c');
  });
  EXPECT_EQ(s.order, "1afb2c");
  EXPECT_EQ(state_of(started), ABT_THREAD_STATE_TERMINATED);
  free_all({&started, &fresh});
}

TEST(ABT_self_yield_to, from_the_primary_thread) {
  const runtime rt;
  scene s;
  ABT_thread t = s.fresh();
  EXPECT_OK(ABT_self_yield_to(t));
  EXPECT_EQ(s.order, "f");
  EXPECT_OK(ABT_thread_free(&t));
}

TEST(ABT_self_yield_to, the_caller_waits_in_its_pool) {
  const runtime rt;
  const own_pool pool;
  std::size_t size = 9;
  ABT_thread first = ABT_THREAD_NULL;
  body g = [&] { size = pool.size(); };
  ABT_thread second = new_thread(pool, g);
  EXPECT_EQ(pool.pop(), second);
  body f = [&] { EXPECT_OK(ABT_self_yield_to(second)); };
  first = new_thread(pool, f);
  EXPECT_OK(ABT_self_schedule(pool.pop(), ABT_POOL_NULL));
  EXPECT_EQ(size, 1U);
  EXPECT_EQ(state_of(first), ABT_THREAD_STATE_READY);
  EXPECT_EQ(pool.pop(), first);
  EXPECT_OK(ABT_self_schedule(first, ABT_POOL_NULL));
  free_all({&first, &second});
}

TEST(ABT_self_yield_to, works_with_user_pools) {
  const runtime rt;
  const user_pool pool;
  std::atomic<int> ran = 0;
  ABT_thread t = ABT_THREAD_NULL;
  ASSERT_OK(ABT_thread_create(pool, count, &ran, ABT_THREAD_ATTR_NULL, &t));
  EXPECT_EQ(pool.pop(), t);
  EXPECT_OK(ABT_self_yield_to(t));
  EXPECT_EQ(ran, 1);
  EXPECT_OK(ABT_thread_free(&t));
}

TEST(ABT_self_yield_to, refuses_wrong_callers_and_targets) {
  expect_refusals(ABT_self_yield_to, false);
}

TEST(ABT_self_resume_yield_to, switches_without_the_pool) {
  const runtime rt;
  scene s;
  ABT_thread t = s.blocked();
  in_thread([&] {
    s.note('a');
    EXPECT_OK(ABT_self_resume_yield_to(t));
    EXPECT_EQ(s.pool.size(), 0U);
    s.note('b');
  });
  EXPECT_EQ(s.order, "saSb");
  EXPECT_EQ(state_of(t), ABT_THREAD_STATE_TERMINATED);
  EXPECT_OK(ABT_thread_free(&t));
}

TEST(ABT_self_resume_yield_to, again_and_again) {
  const runtime rt;
  int ball = 0;
  body f = [&] {
    for (int i = 0; i < 1000; ++i) {
      EXPECT_OK(ABT_self_suspend());
      EXPECT_EQ(ball++, 2 * i + 1);
    }
  };
  ABT_thread t = new_thread(self_pool(), f);
  yield_until([&] { return state_of(t) == ABT_THREAD_STATE_BLOCKED; });
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(ball++, 2 * i);
    EXPECT_OK(ABT_self_resume_yield_to(t));
  }
  EXPECT_OK(ABT_thread_free(&t));
  EXPECT_EQ(ball, 2000);
}

ABT_thread watched = ABT_THREAD_NULL;
ABT_thread_state state_at_push = ABT_THREAD_STATE_TERMINATED;

void push_and_look(ABT_pool pool, ABT_unit unit, ABT_pool_context context) {
  if (watched != ABT_THREAD_NULL)
    state_at_push = state_of(watched);
  fifo_push(pool, unit, context);
}

// Once the caller is back in its pool it may run elsewhere, and ask.
TEST(ABT_self_resume_yield_to, the_target_does_not_count_as_blocked_any_more) {
  const runtime rt;
  user_fifo fifo;
  ABT_pool_user_def def = ABT_POOL_USER_DEF_NULL;
  ASSERT_OK(ABT_pool_user_def_create(fifo_create_unit, fifo_free_unit, fifo_is_empty, fifo_pop, push_and_look,
                                     &def));
  ABT_pool pool = make_pool_of(fifo, def);
  EXPECT_OK(ABT_pool_user_def_free(&def));
  body sleeps = [] { EXPECT_OK(ABT_self_suspend()); };
  ABT_thread target = new_thread(self_pool(), sleeps);
  yield_until([target] { return state_of(target) == ABT_THREAD_STATE_BLOCKED; });
  body resumes = [target] {
    watched = target;
    EXPECT_OK(ABT_self_resume_yield_to(target));
    watched = ABT_THREAD_NULL;
  };
  ABT_thread caller = new_thread(pool, resumes);
  for (int part = 0; part < 2; ++part) {
    ABT_thread next = ABT_THREAD_NULL;
    ASSERT_OK(ABT_pool_pop_thread(pool, &next));
    ASSERT_EQ(next, caller);
    EXPECT_OK(ABT_self_schedule(next, ABT_POOL_NULL));
  }
  EXPECT_EQ(state_at_push, ABT_THREAD_STATE_READY);
  EXPECT_OK(ABT_thread_free(&caller));
  EXPECT_OK(ABT_thread_free(&target));
  EXPECT_OK(ABT_pool_free(&pool));
}

TEST(ABT_self_resume_yield_to, refuses_wrong_callers_and_targets) {
  expect_refusals(ABT_self_resume_yield_to, true);
}

TEST(ABT_self_suspend, until_resumed) {
  const runtime rt;
  const own_pool pool;
  bool after = false;
  body f = [&] {
    EXPECT_OK(ABT_self_suspend());
    after = true;
  };
  ABT_thread t = new_thread(pool, f);
  pool.run_all();
  EXPECT_EQ(state_of(t), ABT_THREAD_STATE_BLOCKED);
  EXPECT_EQ(pool.size(), 0U);
  std::size_t total = 0;
  EXPECT_OK(ABT_pool_get_total_size(pool, &total));
  EXPECT_EQ(total, 1U); // its pool still counts it
  EXPECT_FALSE(after);
  EXPECT_OK(ABT_thread_resume(t));
  pool.run_all();
  EXPECT_TRUE(after);
  EXPECT_OK(ABT_thread_free(&t));
}

TEST(ABT_self_suspend, the_primary_thread_too) {
  const runtime rt;
  const ABT_thread primary = self();
  const ABT_xstream home = self_xstream();
  const streams es(1);
  for (const ABT_pool pool : {self_pool(), es.pool(0)}) {
    body f = [&] { resume_when_blocked(primary); };
    ABT_thread t = new_thread(pool, f);
    EXPECT_OK(ABT_self_suspend());
    EXPECT_EQ(self_xstream(), home);
    EXPECT_OK(ABT_thread_free(&t));
  }
}

TEST(ABT_self_suspend, refuses_callers_that_cannot_block) {
  const runtime rt;
  EXPECT_ABT(ABT_ERR_INV_THREAD, from_tasklet(ABT_self_suspend));
  EXPECT_ABT(ABT_ERR_INV_XSTREAM, from_kernel_thread(ABT_self_suspend));
}

TEST(ABT_self_suspend_to, a_fresh_and_a_started_thread) {
  const runtime rt;
  for (const bool begun : {false, true}) {
    scene s;
    ABT_thread target = begun ? s.started() : s.fresh();
    s.order.clear();
    body f = [&] {
      s.note('a');
      EXPECT_OK(ABT_self_suspend_to(target));
      s.note('b');
    };
    ABT_thread t = new_thread(self_pool(), f);
    yield_until([&] { return state_of(target) == ABT_THREAD_STATE_TERMINATED; });
    EXPECT_EQ(s.order, begun ? "a2" : "af");
    EXPECT_EQ(state_of(t), ABT_THREAD_STATE_BLOCKED);
    EXPECT_OK(ABT_thread_resume(t));
    free_all({&t, &target});
    EXPECT_EQ(s.order, begun ? "a2b" : "afb");
  }
}

TEST(ABT_self_suspend_to, the_target_may_resume_the_caller) {
  const runtime rt;
  const own_pool pool;
  const ABT_thread primary = self();
  body f = [&] {
    EXPECT_EQ(state_of(primary), ABT_THREAD_STATE_BLOCKED);
    EXPECT_OK(ABT_thread_resume(primary));
  };
  ABT_thread t = new_thread(pool, f);
  EXPECT_EQ(pool.pop(), t);
  EXPECT_OK(ABT_self_suspend_to(t));
  EXPECT_OK(ABT_thread_free(&t));
}

TEST(ABT_self_suspend_to, refuses_wrong_callers_and_targets) {
  expect_refusals(ABT_self_suspend_to, false);
}

TEST(ABT_self_resume_suspend_to, hands_the_stream_to_and_fro) {
  const runtime rt;
  int ball = 0;
  ABT_thread ping = ABT_THREAD_NULL;
  ABT_thread pong = ABT_THREAD_NULL;
  body g = [&] {
    EXPECT_OK(ABT_self_suspend());
    for (int i = 0; i < 500; ++i) {
      EXPECT_EQ(ball++, 2 * i + 1);
      if (i < 499) {
        EXPECT_OK(ABT_self_resume_suspend_to(ping));
      }
    }
    EXPECT_OK(ABT_thread_resume(ping));
  };
  body f = [&] {
    for (int i = 0; i < 500; ++i) {
      EXPECT_EQ(ball++, 2 * i);
      EXPECT_OK(ABT_self_resume_suspend_to(pong));
    }
  };
  pong = new_thread(self_pool(), g);
  yield_until([&] { return state_of(pong) == ABT_THREAD_STATE_BLOCKED; });
  ping = new_thread(self_pool(), f);
  free_all({&ping, &pong});
  EXPECT_EQ(ball, 1000);
}

TEST(ABT_self_resume_suspend_to, refuses_wrong_callers_and_targets) {
  expect_refusals(ABT_self_resume_suspend_to, true);
}

TEST(ABT_self_exit, ends_the_caller) {
  const runtime rt;
  bool after = false;
  in_thread([&] {
    EXPECT_OK(ABT_self_exit());
    after = true;
  });
  EXPECT_FALSE(after);
}

TEST(ABT_self_exit, wakes_who_joins) {
  const runtime rt;
  const streams es(1);
  std::atomic<bool> go = false;
  body f = [&] {
    while (!go)
      EXPECT_OK(ABT_self_yield());
    EXPECT_OK(ABT_self_exit());
  };
  ABT_thread t = new_thread(es.pool(0), f);
  body joiner = [&] { EXPECT_OK(ABT_thread_join(t)); };
  ABT_thread waiting = new_thread(self_pool(), joiner);
  yield_until([&] { return state_of(waiting) == ABT_THREAD_STATE_BLOCKED; });
  go = true;
  free_all({&waiting, &t});
}

TEST(ABT_self_exit, refuses_callers_that_cannot_end_so) {
  const runtime rt;
  EXPECT_ABT(ABT_ERR_INV_THREAD, ABT_self_exit()); // the primary thread
  EXPECT_ABT(ABT_ERR_INV_THREAD, from_tasklet(ABT_self_exit));
  EXPECT_ABT(ABT_ERR_INV_XSTREAM, from_kernel_thread(ABT_self_exit));
}

TEST(ABT_self_exit_to, a_fresh_and_a_started_thread) {
  const runtime rt;
  for (const bool begun : {false, true}) {
    scene s;
    ABT_thread target = begun ? s.started() : s.fresh();
    s.order.clear();
    in_thread([&] {
      s.note('a');
      EXPECT_OK(ABT_self_exit_to(target));
      s.note('b');
    });
    EXPECT_OK(ABT_thread_join(target));
    EXPECT_EQ(s.order, begun ? "a2" : "af");
    EXPECT_OK(ABT_thread_free(&target));
  }
}

TEST(ABT_self_exit_to, a_relay_of_unnamed_threads) {
  const runtime rt;
  const own_pool pool;
  std::atomic<int> left = 100; // each passes on to the next, and nobody else runs them
  std::function<void()> pass = [&] {
    if (--left == 0)
      return;
    EXPECT_OK(ABT_thread_create(pool, run_function, &pass, ABT_THREAD_ATTR_NULL, nullptr));
    EXPECT_OK(ABT_self_exit_to(pool.pop()));
  };
  ASSERT_OK(ABT_thread_create(self_pool(), run_function, &pass, ABT_THREAD_ATTR_NULL, nullptr));
  yield_until([&] { return left == 0; });
}

TEST(ABT_self_exit_to, refuses_wrong_callers_and_targets) {
  expect_refusals(ABT_self_exit_to, false);
}

TEST(ABT_self_exit_to, refuses_the_primary_thread) {
  const runtime rt;
  scene s;
  ABT_thread t = s.fresh();
  EXPECT_ABT(ABT_ERR_INV_THREAD, ABT_self_exit_to(t));
  EXPECT_OK(ABT_self_schedule(t, ABT_POOL_NULL));
  EXPECT_OK(ABT_thread_free(&t));
}

TEST(ABT_self_resume_exit_to, ends_the_caller_and_goes_on_in_the_target) {
  const runtime rt;
  scene s;
  ABT_thread t = s.blocked();
  in_thread([&] {
    s.note('a');
    EXPECT_OK(ABT_self_resume_exit_to(t));
    s.note('b');
  });
  EXPECT_OK(ABT_thread_join(t));
  EXPECT_EQ(s.order, "saS");
  EXPECT_OK(ABT_thread_free(&t));
}

TEST(ABT_self_resume_exit_to, refuses_wrong_callers_and_targets) {
  expect_refusals(ABT_self_resume_exit_to, true);
}

TEST(ABT_self_resume_exit_to, refuses_the_primary_thread) {
  const runtime rt;
  scene s;
  ABT_thread t = s.blocked();
  EXPECT_ABT(ABT_ERR_INV_THREAD, ABT_self_resume_exit_to(t));
  EXPECT_EQ(state_of(t), ABT_THREAD_STATE_BLOCKED);
  EXPECT_OK(ABT_thread_resume(t));
  s.pool.run_all();
  EXPECT_OK(ABT_thread_free(&t));
}

} // namespace
} // namespace abt_test
