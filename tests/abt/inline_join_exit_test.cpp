// SPDX-License-Identifier: MIT
// ULTs on the stack of whoever joins or frees them that end by leaving their frames, which are C's.
#include <functional>

#include "inline_join.hpp"

namespace abt_test {
namespace {

TEST(ABT_self_exit, from_nested_frames_on_the_joiners_stack) {
  const runtime rt;
  int before = 0;
  int after = 0;
  each_way([&](int round) {
    ++before;
    if (round % 2 == 0) {
      EXPECT_OK(ABT_thread_yield());
    }
    after += below(10, round % 3 == 0 ? ABT_thread_exit : ABT_self_exit);
    ++after;
  });
  EXPECT_EQ(before, 4 * rounds);
  EXPECT_EQ(after, 0);
}

TEST(ABT_self_exit, nested_on_the_joiners_stack) {
  const runtime rt;
  each_way([](int) {
    int inner = 0;
    body f = [&] {
      body g = [&inner] {
        ++inner;
        below(5, ABT_self_exit);
      };
      ABT_thread t = new_thread(self_pool(), g);
      EXPECT_OK(ABT_thread_free(&t));
      ++inner;
      below(5, ABT_self_exit);
    };
    ABT_thread t = new_thread(self_pool(), f);
    EXPECT_OK(ABT_thread_join(t));
    EXPECT_EQ(inner, 2);
    EXPECT_OK(ABT_thread_free(&t));
  });
}

// A ULT on its joiner's stack ends there and continues another, which does `rest`.
void exit_to(const std::function<void()>& rest) {
  each_way([&](int) {
    const own_pool pool;
    bool next_ran = false;
    body next = [&] {
      next_ran = true;
      rest();
    };
    ABT_thread other = new_thread(pool, next);
    ABT_thread leaver = ABT_THREAD_NULL;
    body leave = [&] {
      EXPECT_EQ(pool.pop(), other);
      EXPECT_OK(ABT_thread_set_associated_pool(other, self_pool()));
      EXPECT_OK(ABT_self_exit_to(other));
      ADD_FAILURE() << "it has ended";
    };
    leaver = new_thread(self_pool(), leave);
    EXPECT_OK(ABT_thread_free(&leaver));
    EXPECT_OK(ABT_thread_free(&other));
    EXPECT_TRUE(next_ran);
  });
}

TEST(ABT_self_exit_to, from_the_joiners_stack) {
  const runtime rt;
  exit_to([] {});
}

TEST(ABT_self_exit_to, from_the_joiners_stack_to_one_that_yields) {
  const runtime rt;
  exit_to([] { EXPECT_OK(ABT_thread_yield()); });
}

// What waits leaves on top of what runs next: the joiner, which has only just got its stack back.
TEST(ABT_self_exit_to, from_the_joiners_stack_to_one_that_waits) {
  const runtime rt;
  exit_to([] {
    const ABT_thread own = self();
    body wake = [own] { resume_when_blocked(own); };
    ABT_thread waker = new_thread(self_pool(), wake);
    EXPECT_OK(ABT_self_suspend());
    EXPECT_OK(ABT_thread_free(&waker));
  });
}

TEST(ABT_self_exit_to, from_the_joiners_stack_to_one_that_joins) {
  const runtime rt;
  exit_to([] {
    body sleep = [] { EXPECT_OK(ABT_self_suspend()); };
    ABT_thread sleeper = new_thread(self_pool(), sleep);
    EXPECT_OK(ABT_thread_yield_to(sleeper));
    body wake = [sleeper] { resume_when_blocked(sleeper); };
    ABT_thread waker = new_thread(self_pool(), wake);
    EXPECT_OK(ABT_thread_join(sleeper));
    free_all({&sleeper, &waker});
  });
}

TEST(ABT_self_exit_to, from_the_joiners_stack_to_one_that_moves) {
  const runtime rt;
  const streams es(1);
  exit_to([&es] {
    EXPECT_OK(ABT_thread_migrate_to_xstream(self(), es[0]));
    EXPECT_OK(ABT_thread_yield());
    EXPECT_EQ(self_xstream(), es[0]);
  });
}

TEST(ABT_self_exit_to, from_the_joiners_stack_to_one_that_waits_for_an_eventual) {
  const runtime rt;
  exit_to([] {
    ABT_eventual ready = ABT_EVENTUAL_NULL;
    ASSERT_OK(ABT_eventual_create(0, &ready));
    body set = [ready] { EXPECT_OK(ABT_eventual_set(ready, nullptr, 0)); };
    ABT_thread setter = new_thread(self_pool(), set);
    EXPECT_OK(ABT_eventual_wait(ready, nullptr));
    EXPECT_OK(ABT_thread_free(&setter));
    EXPECT_OK(ABT_eventual_free(&ready));
  });
}

TEST(ABT_self_exit_to, from_the_joiners_stack_to_one_that_waits_for_a_lock) {
  const runtime rt;
  ABT_mutex lock = ABT_MUTEX_NULL;
  ASSERT_OK(ABT_mutex_create(&lock));
  for (int i = 0; i < rounds; ++i) {
    const own_pool pool;
    body next = [&] {
      EXPECT_OK(ABT_mutex_lock(lock)); // the joiner has it
      EXPECT_OK(ABT_mutex_unlock(lock));
    };
    ABT_thread other = new_thread(pool, next);
    body leave = [&] {
      EXPECT_EQ(pool.pop(), other);
      EXPECT_OK(ABT_thread_set_associated_pool(other, self_pool()));
      EXPECT_OK(ABT_self_exit_to(other));
    };
    EXPECT_OK(ABT_mutex_lock(lock));
    ABT_thread leaver = new_thread(self_pool(), leave);
    EXPECT_OK(ABT_thread_join(leaver));
    EXPECT_OK(ABT_mutex_unlock(lock));
    free_all({&leaver, &other});
  }
  EXPECT_OK(ABT_mutex_free(&lock));
}

TEST(ABT_self_resume_exit_to, from_the_joiners_stack) {
  const runtime rt;
  each_way([](int) {
    body sleep = [] {
      EXPECT_OK(ABT_self_suspend());
      EXPECT_OK(ABT_thread_yield());
    };
    ABT_thread sleeper = new_thread(self_pool(), sleep);
    yield_until([&] { return state_of(sleeper) == ABT_THREAD_STATE_BLOCKED; });
    body leave = [&] { EXPECT_OK(ABT_self_resume_exit_to(sleeper)); };
    ABT_thread leaver = new_thread(self_pool(), leave);
    EXPECT_OK(ABT_thread_free(&leaver));
    EXPECT_OK(ABT_thread_free(&sleeper));
  });
}

TEST(ABT_thread_cancel, of_one_on_its_joiners_stack) {
  const runtime rt;
  int ended = 0;
  each_way([&](int) {
    // Unnamed: nobody could free it, this frame goes when the request is met.
    const auto cancel = [](void* victim) { EXPECT_OK(ABT_thread_cancel(static_cast<ABT_thread>(victim))); };
    EXPECT_OK(ABT_thread_create(self_pool(), cancel, self(), ABT_THREAD_ATTR_NULL, nullptr));
    for (;;)
      ABT_thread_yield();
    ++ended;
  });
  EXPECT_EQ(ended, 0);
}

TEST(ABT_thread_cancel, of_a_joiner_while_another_runs_on_its_stack) {
  const runtime rt;
  bool unit_ended = false;
  bool went_on = false;
  bool passed = false;
  ABT_thread joiner = ABT_THREAD_NULL;
  body unit = [&] {
    EXPECT_OK(ABT_thread_cancel(joiner));
    EXPECT_OK(ABT_thread_yield());
    unit_ended = true;
  };
  ABT_thread t = ABT_THREAD_NULL;
  body join = [&] {
    EXPECT_OK(ABT_thread_join(t));
    went_on = true;
    ABT_thread_yield();
    passed = true;
  };
  const sized_attributes attr(256 << 10);
  t = new_thread(self_pool(), unit);
  joiner = new_thread(self_pool(), join, attr);
  EXPECT_OK(ABT_thread_yield_to(joiner));
  EXPECT_OK(ABT_thread_join(joiner));
  EXPECT_TRUE(unit_ended);
  EXPECT_TRUE(went_on);
  EXPECT_FALSE(passed);
  free_all({&joiner, &t});
}

} // namespace
} // namespace abt_test
