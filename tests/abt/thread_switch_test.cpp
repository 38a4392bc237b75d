// SPDX-License-Identifier: MIT
// Giving way: yield, yield to one thread in its pool, resume.
#include "units.hpp"

namespace abt_test {
namespace {

TEST(ABT_thread_yield, lets_the_others_of_the_pool_run) {
  const runtime rt;
  std::string order;
  body f = [&] {
    order += 'f';
    EXPECT_OK(ABT_thread_yield());
    order += 'F';
  };
  body g = [&] {
    order += 'g';
    EXPECT_OK(ABT_thread_yield());
    order += 'G';
  };
  ABT_thread t[] = {new_thread(self_pool(), f), new_thread(self_pool(), g)};
  EXPECT_OK(ABT_thread_join(t[0]));
  EXPECT_OK(ABT_thread_join(t[1]));
  EXPECT_EQ(order, "fgFG");
  free_all({&t[0], &t[1]});
}

TEST(ABT_thread_yield, without_effect_where_nothing_can_yield) {
  const runtime rt;
  EXPECT_OK(from_tasklet(ABT_thread_yield));
  EXPECT_OK(from_kernel_thread(ABT_thread_yield));
}

TEST(ABT_thread_yield_to, runs_the_target_next) {
  const runtime rt;
  in_thread([] {
    std::string order;
    body f = [&] { order += 'f'; };
    body g = [&] { order += 'g'; };
    ABT_thread first = new_thread(self_pool(), f);
    ABT_thread second = new_thread(self_pool(), g);
    EXPECT_OK(ABT_thread_yield_to(second));
    EXPECT_EQ(order[0], 'g');
    free_all({&first, &second});
    EXPECT_EQ(order, "gf"); // the target left its pool
  });
}

TEST(ABT_thread_yield_to, a_target_that_has_started) {
  const runtime rt;
  std::string order;
  body f = [&] {
    order += 'a';
    EXPECT_OK(ABT_thread_yield());
    order += 'b';
  };
  const own_pool pool;
  ABT_thread t = new_thread(pool, f);
  EXPECT_OK(ABT_thread_yield_to(t)); // nobody serves its pool, so only this call can run it
  EXPECT_EQ(order, "a");
  EXPECT_EQ(pool.size(), 1U);
  EXPECT_OK(ABT_thread_yield_to(t));
  EXPECT_EQ(order, "ab");
  EXPECT_EQ(pool.size(), 0U);
  EXPECT_OK(ABT_thread_free(&t));
}

TEST(ABT_thread_yield_to, in_a_ring) {
  const runtime rt;
  constexpr std::size_t length = 5;
  std::vector<ABT_thread> ring(length, ABT_THREAD_NULL);
  std::vector<body> f(length);
  std::atomic<int> turns = 0;
  for (std::size_t i = 0; i < length; ++i) {
    f[i] = [&, i] {
      for (int k = 0; k < 100; ++k) {
        ++turns;
        EXPECT_OK(ABT_thread_yield_to(ring[(i + 1) % length])); // ready, or has ended
      }
    };
    ring[i] = new_thread(self_pool(), f[i]);
  }
  for (ABT_thread& t : ring)
    EXPECT_OK(ABT_thread_join(t));
  for (ABT_thread& t : ring)
    EXPECT_OK(ABT_thread_free(&t));
  EXPECT_EQ(turns, 500);
}

TEST(ABT_thread_yield_to, a_target_that_is_not_ready_is_no_error) {
  const runtime rt;
  body f = [] { EXPECT_OK(ABT_self_suspend()); };
  ABT_thread blocked = new_thread(self_pool(), f);
  yield_until([&] { return state_of(blocked) == ABT_THREAD_STATE_BLOCKED; });
  ABT_thread ended = ended_thread();
  EXPECT_OK(ABT_thread_yield_to(blocked));
  EXPECT_OK(ABT_thread_yield_to(ended));
  EXPECT_OK(ABT_thread_resume(blocked));
  free_all({&blocked, &ended});
}

TEST(ABT_thread_yield_to, without_effect_where_nothing_can_yield) {
  const runtime rt;
  const own_pool pool;
  std::atomic<int> ran = 0;
  ABT_thread t = ABT_THREAD_NULL;
  ASSERT_OK(ABT_thread_create(pool, count, &ran, ABT_THREAD_ATTR_NULL, &t));
  EXPECT_OK(from_tasklet([&] { return ABT_thread_yield_to(t); }));
  EXPECT_OK(from_kernel_thread([&] { return ABT_thread_yield_to(t); }));
  EXPECT_EQ(ran, 0);
  EXPECT_EQ(pool.size(), 1U);
  pool.run_all();
  EXPECT_OK(ABT_thread_free(&t));
}

TEST(ABT_thread_yield_to, refuses_null_thread) {
  const runtime rt;
  for (const ABT_thread null : null_threads)
    EXPECT_ABT(ABT_ERR_INV_THREAD, ABT_thread_yield_to(null));
}

TEST(ABT_thread_yield_to, refuses_the_caller_and_tasklets) {
  const runtime rt;
  EXPECT_ABT(ABT_ERR_INV_THREAD, ABT_thread_yield_to(self()));
  body f = [] {};
  ABT_task task = new_task(self_pool(), f);
  EXPECT_ABT(ABT_ERR_INV_THREAD, ABT_thread_yield_to(task));
  EXPECT_OK(ABT_thread_free(&task));
}

TEST(ABT_thread_yield_to, refuses_a_scheduler_as_caller) {
  const runtime rt;
  const own_pool pool;
  body f = [] {};
  ABT_thread t = new_thread(pool, f);
  EXPECT_ABT(ABT_ERR_INV_THREAD, from_scheduler([&] { return ABT_thread_yield_to(t); }));
  EXPECT_EQ(pool.size(), 1U);
  pool.run_all();
  EXPECT_OK(ABT_thread_free(&t));
}

TEST(ABT_thread_yield_to, refuses_a_pool_that_cannot_remove) {
  const runtime rt;
  const user_pool pool;
  body f = [] {};
  ABT_thread t = new_thread(pool, f);
  EXPECT_ABT(ABT_ERR_POOL, ABT_thread_yield_to(t));
  EXPECT_OK(ABT_self_schedule(pool.pop(), ABT_POOL_NULL));
  EXPECT_OK(ABT_thread_free(&t));
}

TEST(ABT_thread_resume, from_every_context) {
  const runtime rt;
  const streams es(1);
  for (const ABT_pool pool : {self_pool(), es.pool(0)}) {
    std::atomic<int> resumed = 0;
    body f = [&] {
      for (int i = 0; i < 3; ++i) {
        EXPECT_OK(ABT_self_suspend());
        ++resumed;
      }
    };
    ABT_thread t = new_thread(pool, f);
    const auto resume = [&] { return ABT_thread_resume(t); };
    const auto blocked = [&] { return state_of(t) == ABT_THREAD_STATE_BLOCKED; };
    yield_until(blocked);
    EXPECT_EQ(resumed, 0);
    EXPECT_OK(resume());
    yield_until([&] { return resumed == 1 && blocked(); });
    EXPECT_OK(from_kernel_thread(resume));
    yield_until([&] { return resumed == 2 && blocked(); });
    EXPECT_OK(from_tasklet(resume));
    EXPECT_OK(ABT_thread_free(&t));
    EXPECT_EQ(resumed, 3);
  }
}

TEST(ABT_thread_resume, puts_the_thread_into_its_pool) {
  const runtime rt;
  const own_pool pool;
  body f = [] { EXPECT_OK(ABT_self_suspend()); };
  ABT_thread t = new_thread(pool, f);
  pool.run_all();
  EXPECT_EQ(state_of(t), ABT_THREAD_STATE_BLOCKED);
  EXPECT_EQ(pool.size(), 0U);
  EXPECT_OK(ABT_thread_resume(t));
  EXPECT_EQ(state_of(t), ABT_THREAD_STATE_READY);
  EXPECT_EQ(pool.size(), 1U);
  pool.run_all();
  EXPECT_OK(ABT_thread_free(&t));
}

// Each resumes the other and suspends, a thousand times.
void ping_pong(ABT_pool a, ABT_pool b) {
  constexpr int rounds = 1000;
  ABT_thread ping = ABT_THREAD_NULL;
  ABT_thread pong = ABT_THREAD_NULL;
  ABT_thread first = ABT_THREAD_NULL; // ping as pong knows it: ping may run before `ping` is written
  int ball = 0;                       // not atomic: who has been resumed sees what the other did before
  const auto serve = [](ABT_thread t) {
    for (int code; (code = ABT_thread_resume(t)) != ABT_SUCCESS;) {
      ASSERT_ABT(ABT_ERR_THREAD, code); // not blocked yet
      EXPECT_OK(ABT_thread_yield());
    }
  };
  body f = [&] {
    first = self();
    for (int i = 0; i < rounds; ++i) {
      EXPECT_EQ(ball++, 2 * i);
      serve(pong);
      EXPECT_OK(ABT_self_suspend());
    }
  };
  body g = [&] {
    for (int i = 0; i < rounds; ++i) {
      EXPECT_OK(ABT_self_suspend());
      EXPECT_EQ(ball++, 2 * i + 1);
      serve(first);
    }
  };
  pong = new_thread(b, g);
  ping = new_thread(a, f);
  free_all({&ping, &pong});
  EXPECT_EQ(ball, 2 * rounds);
}

TEST(ABT_thread_resume, ping_pong_on_one_stream) {
  const runtime rt;
  ping_pong(self_pool(), self_pool());
}

TEST(ABT_thread_resume, ping_pong_on_two_streams) {
  const runtime rt;
  const streams es(2);
  ping_pong(es.pool(0), es.pool(1));
  ping_pong(self_pool(), es.pool(1));
}

TEST(ABT_thread_resume, refuses_null_thread) {
  const runtime rt;
  for (const ABT_thread null : null_threads)
    EXPECT_ABT(ABT_ERR_INV_THREAD, ABT_thread_resume(null));
}

TEST(ABT_thread_resume, refuses_a_tasklet) {
  const runtime rt;
  body f = [] {};
  ABT_task task = new_task(self_pool(), f);
  EXPECT_ABT(ABT_ERR_INV_THREAD, ABT_thread_resume(task));
  EXPECT_OK(ABT_thread_free(&task));
}

TEST(ABT_thread_resume, refuses_what_is_not_blocked) {
  const runtime rt;
  EXPECT_ABT(ABT_ERR_THREAD, ABT_thread_resume(self()));
  int runs = 0;
  body f = [&] { ++runs; };
  ABT_thread t = new_thread(self_pool(), f);
  EXPECT_ABT(ABT_ERR_THREAD, ABT_thread_resume(t)); // ready
  EXPECT_OK(ABT_thread_join(t));
  EXPECT_ABT(ABT_ERR_THREAD, ABT_thread_resume(t)); // has ended
  EXPECT_OK(ABT_thread_free(&t));
  EXPECT_EQ(runs, 1);
}

TEST(ABT_thread_resume, refuses_the_second_time) {
  const runtime rt;
  const own_pool pool;
  body f = [] { EXPECT_OK(ABT_self_suspend()); };
  ABT_thread t = new_thread(pool, f);
  pool.run_all();
  EXPECT_OK(ABT_thread_resume(t));
  EXPECT_ABT(ABT_ERR_THREAD, ABT_thread_resume(t));
  EXPECT_EQ(pool.size(), 1U);
  pool.run_all();
  EXPECT_OK(ABT_thread_free(&t));
}

} // namespace
} // namespace abt_test
