// SPDX-License-Identifier: MIT
// ULTs that have not started run on the stack of whoever joins or frees them: what they may do there all the
// same, and which have a stack of their own.
#include <atomic>
#include <cfenv>
#include <cstdint>
#include <cstdio>

#include "abtx.h"
#include "inline_join.hpp"

namespace abt_test {
namespace {

TEST(ABT_thread_join, runs_a_new_thread_on_the_callers_stack) {
  const runtime rt;
  int ran = 0;
  each_way([&](int) { ++ran; });
  EXPECT_EQ(ran, 4 * rounds);
}

TEST(ABT_thread_join_many, runs_new_threads_on_the_callers_stack) {
  const runtime rt;
  for (const bool also_free : {false, true}) {
    stack_watch watches[rounds];
    body f[rounds];
    ABT_thread t[rounds + 1] = {};
    for (int i = 0; i < rounds; ++i) {
      f[i] = [&watches, i] {
        watches[i].look();
        if (i == 3) {
          EXPECT_OK(ABT_thread_yield());
        }
        if (i == 5)
          ABT_thread_exit();
      };
      t[i] = new_thread(self_pool(), f[i]);
    }
    t[rounds] = ABT_THREAD_NULL;
    if (!also_free) {
      EXPECT_OK(ABT_thread_join_many(rounds + 1, t));
      for (int i = 0; i < rounds; ++i)
        EXPECT_EQ(state_of(t[i]), ABT_THREAD_STATE_TERMINATED);
    }
    EXPECT_OK(ABT_thread_free_many(rounds + 1, t));
    for (const ABT_thread one : t)
      EXPECT_EQ(one, ABT_THREAD_NULL);
    // The yield lets those behind it start from the pool.
    EXPECT_GE(watches[0].shared(), may_inline);
    EXPECT_GE(watches[3].shared(), may_inline);
  }
}

TEST(ABT_thread_join, of_one_that_yields_suspends_and_waits) {
  const runtime rt;
  each_way([&](int) {
    const ABT_thread own = self();
    body wake = [own] { resume_when_blocked(own); };
    ABT_thread waker = new_thread(self_pool(), wake);
    EXPECT_OK(ABT_thread_yield());
    EXPECT_OK(ABT_self_suspend());
    EXPECT_OK(ABT_thread_free(&waker));
  });
}

TEST(ABT_thread_get_state, of_a_joiner_and_of_what_runs_on_its_stack) {
  const runtime rt;
  in_thread([] {
    const ABT_thread joiner = self();
    each_way([joiner](int) {
      EXPECT_EQ(state_of(joiner), ABT_THREAD_STATE_BLOCKED);
      EXPECT_EQ(state_of(self()), ABT_THREAD_STATE_RUNNING);
      EXPECT_OK(ABT_thread_yield());
      EXPECT_EQ(state_of(joiner), ABT_THREAD_STATE_BLOCKED);
      EXPECT_ABT(ABT_ERR_THREAD, ABT_thread_resume(joiner)); // it waits for something else
    });
    EXPECT_EQ(state_of(joiner), ABT_THREAD_STATE_RUNNING);
  });
}

TEST(ABT_thread_get_state, of_a_joiner_once_the_join_is_over) {
  const runtime rt;
  each_way([](int) {}, [] { EXPECT_EQ(state_of(self()), ABT_THREAD_STATE_RUNNING); });
}

TEST(ABT_thread_migrate_to_xstream, of_one_on_its_joiners_stack) {
  const runtime rt;
  const streams es(1);
  const int home = rank();
  const ABT_xstream here = self_xstream();
  each_way(
      [&](int round) {
        EXPECT_OK(ABT_thread_migrate_to_xstream(self(), es[0]));
        EXPECT_OK(ABT_thread_yield());
        EXPECT_EQ(self_xstream(), es[0]);
        EXPECT_NE(rank(), home);
        if (round % 4 == 0) {
          EXPECT_OK(ABT_thread_migrate_to_xstream(self(), here));
          EXPECT_OK(ABT_thread_yield());
          EXPECT_EQ(rank(), home);
        } else if (round % 4 == 1) {
          below(5, ABT_self_exit);
        } else if (round % 4 == 2) {
          body f = [] { EXPECT_OK(ABT_thread_yield()); };
          ABT_thread t = new_thread(self_pool(), f);
          EXPECT_OK(ABT_thread_free(&t));
        }
      },
      [&] {
        EXPECT_EQ(rank(), home);
        EXPECT_EQ(self_xstream(), here);
      });
}

TEST(ABT_thread_set_specific, of_one_on_its_joiners_stack) {
  const runtime rt;
  std::atomic<int> destroyed = 0;
  const own_key key(count);
  int joined = 0;
  each_way(
      [&](int round) {
        void* value = &value;
        EXPECT_OK(ABT_self_get_specific(key, &value));
        EXPECT_EQ(value, nullptr);
        EXPECT_OK(ABT_thread_set_specific(self(), key, &destroyed));
        EXPECT_OK(ABT_thread_yield());
        EXPECT_OK(ABT_self_get_specific(key, &value));
        EXPECT_EQ(value, &destroyed);
        if (round % 2 == 0)
          ABT_self_exit();
      },
      [&] {
        void* value = &value;
        EXPECT_OK(ABT_self_get_specific(key, &value));
        EXPECT_EQ(value, nullptr);
        ++joined;
      });
  EXPECT_EQ(destroyed, joined);
}

TEST(ABT_thread_revive, after_a_life_on_its_joiners_stack) {
  const runtime rt;
  const own_key key;
  ABT_thread t = ABT_THREAD_NULL;
  inline_count inlined;
  for (int i = 0; i < rounds; ++i) {
    stack_watch watch;
    body f = [&] {
      watch.look();
      if (i % 3 == 0) {
        EXPECT_OK(ABT_thread_yield());
      }
      if (i % 4 == 0)
        below(3, ABT_self_exit);
    };
    if (t == ABT_THREAD_NULL) {
      t = new_thread(self_pool(), f);
    } else {
      EXPECT_OK(ABT_thread_revive(self_pool(), run_function, &f, &t));
    }
    EXPECT_EQ(state_of(t), ABT_THREAD_STATE_READY);
    EXPECT_OK(ABT_thread_join(t));
    EXPECT_EQ(state_of(t), ABT_THREAD_STATE_TERMINATED);
    inlined.add(watch);
  }
  body last = [&] { EXPECT_OK(ABT_self_set_specific(key, &t)); };
  for (int i = 0; i < 3; ++i) { // with a value, which it keeps: no more a plain one
    EXPECT_OK(ABT_thread_revive(self_pool(), run_function, &last, &t));
    EXPECT_OK(ABT_thread_join(t));
    void* value = nullptr;
    EXPECT_OK(ABT_thread_get_specific(t, key, &value));
    EXPECT_EQ(value, &t);
  }
  EXPECT_OK(ABT_thread_free(&t));
}

TEST(ABT_thread_get_attr, of_one_on_its_joiners_stack) {
  const runtime rt;
  std::FILE* out = std::tmpfile();
  ASSERT_NE(out, nullptr);
  each_way([out](int) {
    ABT_thread_attr attr = ABT_THREAD_ATTR_NULL;
    EXPECT_OK(ABT_thread_get_attr(self(), &attr));
    void* stack = nullptr;
    std::size_t size = 0;
    EXPECT_OK(ABT_thread_attr_get_stack(attr, &stack, &size));
    EXPECT_GT(size, 0U);
    EXPECT_OK(ABT_thread_attr_free(&attr));
    EXPECT_OK(ABT_thread_get_stacksize(self(), &size));
    EXPECT_GT(size, 0U);
    EXPECT_OK(ABT_thread_get_stack(self(), &stack, &size));
    EXPECT_NE(stack, nullptr);
    ABT_bool unnamed = ABT_TRUE;
    EXPECT_OK(ABT_self_is_unnamed(&unnamed));
    EXPECT_EQ(unnamed, ABT_FALSE);
    EXPECT_OK(ABT_info_print_thread(out, self()));
    EXPECT_OK(ABT_info_print_thread_stack(out, self()));
    ABTX_technique technique = ABTX_TECHNIQUE_DEFAULT;
    EXPECT_OK(ABTX_thread_get_technique(self(), &technique));
  });
  std::fclose(out);
}

// As the processor rounds, by x87's control word and by MXCSR.
[[gnu::noinline]] double third() {
  volatile double one = 1;
  volatile double three = 3;
  return one / three;
}

TEST(ABT_thread_join, keeps_rounding_modes_apart) {
  const runtime rt;
  const double nearest = third();
  ASSERT_EQ(std::fesetround(FE_UPWARD), 0);
  const double up = third();
  std::fesetround(FE_TONEAREST);
  EXPECT_GT(up, nearest);
  each_way(
      [&](int round) {
        std::fesetround(round % 2 == 0 ? FE_DOWNWARD : FE_UPWARD);
        if (round % 3 == 0) {
          EXPECT_OK(ABT_thread_yield());
        }
        EXPECT_EQ(std::fegetround(), round % 2 == 0 ? FE_DOWNWARD : FE_UPWARD);
        if (round % 5 == 0)
          below(3, ABT_self_exit);
      },
      [&] {
        EXPECT_EQ(std::fegetround(), FE_TONEAREST);
        EXPECT_EQ(third(), nearest);
      });
  for (int i = 0; i < rounds; ++i) {
    stack_watch watch;
    int mode = -1;
    double seen = 0;
    body f = [&] {
      watch.look();
      mode = std::fegetround();
      seen = third();
    };
    ABT_thread t = new_thread(self_pool(), f);
    std::fesetround(FE_UPWARD);
    EXPECT_OK(ABT_thread_free(&t));
    EXPECT_EQ(std::fegetround(), FE_UPWARD);
    EXPECT_EQ(third(), up);
    std::fesetround(FE_TONEAREST);
    // Its creator's, wherever it runs.
    EXPECT_EQ(mode, FE_TONEAREST);
    EXPECT_EQ(seen, nearest);
  }
}

TEST(ABT_task_join, of_new_tasklets) {
  const runtime rt;
  const auto all = [] {
    int ran = 0;
    body f = [&] {
      ++ran;
      EXPECT_ABT(ABT_ERR_INV_THREAD, ABT_self_suspend());
    };
    for (int i = 0; i < 300; ++i) { // beyond what goes without a look around
      ABT_task t = new_task(self_pool(), f);
      EXPECT_OK(ABT_task_join(t));
      EXPECT_EQ(state_of(t), ABT_THREAD_STATE_TERMINATED);
      EXPECT_OK(ABT_task_free(&t));
      EXPECT_EQ(t, ABT_TASK_NULL);
      t = new_task(self_pool(), f);
      EXPECT_OK(ABT_thread_free(&t));
      t = new_task(self_pool(), f);
      EXPECT_OK(ABT_thread_join(t));
      EXPECT_OK(ABT_thread_free_many(1, &t));
    }
    EXPECT_EQ(ran, 900);
  };
  all();
  in_thread(all);
}

TEST(ABT_task_join, of_one_with_a_value) {
  const runtime rt;
  std::atomic<int> destroyed = 0;
  const own_key key(count);
  body f = [&] { EXPECT_OK(ABT_self_set_specific(key, &destroyed)); };
  for (int i = 0; i < rounds; ++i) {
    ABT_task t = new_task(self_pool(), f);
    if (i % 2 == 0) {
      EXPECT_OK(ABT_task_join(t));
    }
    EXPECT_OK(ABT_task_free(&t));
    EXPECT_EQ(destroyed, i + 1);
  }
}

// Those that have a stack of their own.
void expect_not_shared(ABT_thread_attr attr, void* low = nullptr, std::size_t size = 0) {
  for (int i = 0; i < rounds; ++i) {
    stack_watch watch;
    std::uintptr_t frame = 0;
    body f = [&] {
      watch.look();
      frame = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
      EXPECT_OK(ABT_thread_yield());
    };
    ABT_thread t = new_thread(self_pool(), f, attr);
    if (i % 2 == 0) {
      EXPECT_OK(ABT_thread_join(t));
    }
    EXPECT_OK(ABT_thread_free(&t));
    EXPECT_FALSE(watch.shared());
    if (low != nullptr) {
      EXPECT_LT(frame - reinterpret_cast<std::uintptr_t>(low), size);
    }
  }
}

TEST(ABT_thread_attr_set_stack, is_used_by_a_join) {
  const runtime rt;
  alignas(64) static char memory[128 << 10];
  const attributes attr;
  ASSERT_OK(ABT_thread_attr_set_stack(attr, memory, sizeof memory));
  expect_not_shared(attr, memory, sizeof memory);
}

// Others may run on it.
TEST(ABT_thread_attr_set_stack, is_a_joiners_too) {
  const runtime rt;
  alignas(64) static char memory[256 << 10];
  const attributes attr;
  ASSERT_OK(ABT_thread_attr_set_stack(attr, memory, sizeof memory));
  body f = [] {
    join_each([](int round) {
      EXPECT_OK(ABT_thread_yield());
      void* stack = nullptr;
      EXPECT_OK(ABT_thread_get_stack(self(), &stack, nullptr));
      if (round % 2 == 0)
        below(3, ABT_self_exit);
    });
    below(3, ABT_self_exit); // of the joiner, on its own stack
  };
  ABT_thread t = new_thread(self_pool(), f, attr);
  EXPECT_OK(ABT_thread_free(&t));
}

TEST(ABT_thread_attr_set_stacksize, is_kept_by_a_join) {
  const runtime rt;
  expect_not_shared(sized_attributes(128 << 10));
}

TEST(ABTX_thread_attr_set_technique, is_kept_by_a_join) {
  const runtime rt;
  const attributes attr;
  ASSERT_OK(ABTX_thread_attr_set_technique(attr, ABTX_TECHNIQUE_RUN_TO_COMPLETION));
  body f = [] { EXPECT_ABT(ABT_ERR_INV_THREAD, ABT_self_suspend()); };
  for (int i = 0; i < rounds; ++i) {
    ABT_thread t = new_thread(self_pool(), f, attr);
    ABTX_technique technique = ABTX_TECHNIQUE_DEFAULT;
    EXPECT_OK(ABTX_thread_get_technique(t, &technique));
    EXPECT_EQ(technique, ABTX_TECHNIQUE_RUN_TO_COMPLETION);
    EXPECT_OK(ABT_thread_free(&t));
  }
  ASSERT_OK(ABTX_thread_attr_set_technique(attr, ABTX_TECHNIQUE_FULL_LAZY));
  expect_not_shared(attr);
}

} // namespace
} // namespace abt_test
