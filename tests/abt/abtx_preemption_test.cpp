// SPDX-License-Identifier: MIT
// ULTs of the C API that may be preempted.
#include "abtx.h"

#include <unistd.h>

#include <cmath>
#include <cstdlib>

#include "units.hpp"

namespace abt_test {
namespace {

// No SCOPED_TRACE in their loops, which is kept per kernel thread: one of OWN_KERNEL_THREAD may leave its
// stream, and so the test, on another.
constexpr ABTX_preemption kinds[] = {ABTX_PREEMPTION_SIGNAL_YIELD, ABTX_PREEMPTION_OWN_TLS,
                                     ABTX_PREEMPTION_OWN_KERNEL_THREAD, ABTX_PREEMPTION_BOUND_TLS};

// An attribute of this kind. Null, and a skipped test: not on this machine.
class preemptible {
 public:
  explicit preemptible(ABTX_preemption kind) {
    EXPECT_OK(ABT_thread_attr_create(&attr_));
    EXPECT_OK(ABTX_thread_attr_set_preemption(attr_, kind));
  }
  ~preemptible() { EXPECT_OK(ABT_thread_attr_free(&attr_)); }
  preemptible(const preemptible&) = delete;
  preemptible& operator=(const preemptible&) = delete;

  ABT_thread_attr attr() const { return attr_; }
  ABT_thread create(body& f) const {
    ABT_thread t = ABT_THREAD_NULL;
    EXPECT_OK(ABT_thread_create(self_pool(), run_function, &f, attr_, &t));
    return t;
  }

 private:
  ABT_thread_attr attr_ = ABT_THREAD_ATTR_NULL;
};

bool not_on_this_machine() {
  const runtime rt;
  const preemptible some(ABTX_PREEMPTION_OWN_TLS);
  body nothing = [] {};
  ABT_thread t = ABT_THREAD_NULL;
  if (ABT_thread_create(self_pool(), run_function, &nothing, some.attr(), &t) == ABT_ERR_FEATURE_NA)
    return true;
  EXPECT_OK(ABT_thread_free(&t));
  return false;
}

TEST(ABTX_thread_attr_set_preemption, one_that_spins_lets_others_run) {
  if (not_on_this_machine())
    GTEST_SKIP();
  for (const ABTX_preemption kind : kinds) {
    const runtime rt;
    ASSERT_OK(ABTX_preemption_set_interval(200e-6));
    const preemptible some(kind);
    std::atomic<bool> go_on{false};
    body spin = [&] {
      while (!go_on)
        asm volatile("" ::: "memory");
    };
    body release = [&] { go_on = true; };
    ABT_thread spinner = some.create(spin);
    ABT_thread other = new_thread(self_pool(), release);
    ABTX_preemption told = ABTX_PREEMPTION_COOPERATIVE;
    EXPECT_OK(ABTX_thread_get_preemption(spinner, &told));
    EXPECT_EQ(told, kind);
    EXPECT_OK(ABT_thread_free(&spinner));
    EXPECT_OK(ABT_thread_free(&other));
  }
}

TEST(ABTX_thread_attr_set_preemption, a_revived_one_is_preemptible_again) {
  if (not_on_this_machine())
    GTEST_SKIP();
  for (const ABTX_preemption kind : kinds) {
    const runtime rt;
    ASSERT_OK(ABTX_preemption_set_interval(200e-6));
    const preemptible some(kind);
    std::atomic<bool> go_on{true};
    body spin = [&] {
      while (!go_on)
        asm volatile("" ::: "memory");
    };
    body release = [&] { go_on = true; };
    ABT_thread spinner = some.create(spin);
    EXPECT_OK(ABT_thread_join(spinner));
    go_on = false;
    EXPECT_OK(ABT_thread_revive(self_pool(), run_function, &spin, &spinner));
    ABT_thread other = new_thread(self_pool(), release);
    EXPECT_OK(ABT_thread_free(&spinner));
    EXPECT_OK(ABT_thread_free(&other));
  }
}

TEST(ABTX_thread_attr_set_preemption, they_end_in_every_way) {
  if (not_on_this_machine())
    GTEST_SKIP();
  for (const ABTX_preemption kind : kinds) {
    const runtime rt;
    const preemptible some(kind);
    body exits = [] { ABT_self_exit(); };
    body is_cancelled = [] {
      for (;;)
        ABT_thread_yield();
    };
    body to_another = [] {
      body nothing = [] {};
      ABT_thread t = ABT_THREAD_NULL;
      ASSERT_OK(ABT_thread_create(self_pool(), run_function, &nothing, ABT_THREAD_ATTR_NULL, &t));
      EXPECT_OK(ABT_thread_free(&t));
    };
    ABT_thread first = some.create(exits), second = some.create(is_cancelled),
               third = some.create(to_another);
    EXPECT_OK(ABT_thread_yield());
    EXPECT_OK(ABT_thread_cancel(second));
    ABT_thread never = some.create(is_cancelled);
    EXPECT_OK(ABT_thread_cancel(never));
    for (ABT_thread t : {first, second, third, never})
      EXPECT_OK(ABT_thread_free(&t));
    // Unnamed: nobody frees it.
    std::atomic<bool> ran{false};
    body notes = [&] { ran = true; };
    EXPECT_OK(ABT_thread_create(self_pool(), run_function, &notes, some.attr(), nullptr));
    yield_until([&] { return ran.load(); });
  }
}

TEST(ABTX_thread_attr_set_preemption, with_a_stack_size_and_from_many_streams) {
  if (not_on_this_machine())
    GTEST_SKIP();
  for (const ABTX_preemption kind : kinds) {
    const runtime rt;
    const streams es(2);
    ASSERT_OK(ABTX_preemption_set_interval(200e-6));
    const preemptible some(kind);
    ASSERT_OK(ABT_thread_attr_set_stacksize(some.attr(), 4096));
    ABT_mutex m = ABT_MUTEX_NULL;
    ASSERT_OK(ABT_mutex_create(&m));
    long count = 0;
    body counts = [&] {
      for (int i = 0; i < 2000; ++i) {
        EXPECT_OK(ABT_mutex_lock(m));
        const long seen = count;
        if (i % 64 == 0) {
          EXPECT_OK(ABT_self_yield());
        }
        count = seen + 1;
        EXPECT_OK(ABT_mutex_unlock(m));
      }
    };
    std::vector<ABT_thread> all(12, ABT_THREAD_NULL);
    for (std::size_t i = 0; i < all.size(); ++i)
      ASSERT_OK(
          ABT_thread_create(es.pool(static_cast<int>(i % 2)), run_function, &counts, some.attr(), &all[i]));
    for (ABT_thread& t : all)
      EXPECT_OK(ABT_thread_free(&t));
    EXPECT_EQ(count, 24000);
    EXPECT_OK(ABT_mutex_free(&m));
  }
}

TEST(ABTX_thread_attr_set_preemption, from_every_context) {
  if (not_on_this_machine())
    GTEST_SKIP();
  for (const ABTX_preemption kind : kinds) {
    const runtime rt;
    const preemptible some(kind);
    std::atomic<int> ran{0};
    ABT_thread t = ABT_THREAD_NULL;
    const auto create = [&] { return ABT_thread_create(self_pool(), count, &ran, some.attr(), &t); };
    const ABT_pool mine = self_pool();
    EXPECT_OK(from_tasklet(create));
    EXPECT_OK(ABT_thread_free(&t));
    EXPECT_OK(from_kernel_thread([&] { return ABT_thread_create(mine, count, &ran, some.attr(), &t); }));
    EXPECT_OK(ABT_thread_free(&t));
    {
      own_scheduler s;
      EXPECT_OK(s.returns([&] { return ABT_thread_create(s.pool(), count, &ran, some.attr(), &t); }));
      EXPECT_OK(ABT_thread_free(&t));
    }
    in_thread([&] {
      EXPECT_OK(create());
      EXPECT_OK(ABT_thread_free(&t));
    });
    EXPECT_EQ(ran, 4);
  }
}

TEST(ABTX_thread_attr_set_preemption, they_begin_and_end_in_anothers_place) {
  if (not_on_this_machine())
    GTEST_SKIP();
  for (const ABTX_preemption kind : kinds) {
    const runtime rt;
    const preemptible some(kind);
    std::atomic<int> ran{0};
    ABT_thread first = ABT_THREAD_NULL, sleeper = ABT_THREAD_NULL, waker = ABT_THREAD_NULL;
    EXPECT_OK(ABT_thread_create_to(self_pool(), count, &ran, some.attr(), &first));
    EXPECT_OK(ABT_thread_join(first)); // preempted, it may have let the creator go on
    EXPECT_EQ(ran, 1);
    EXPECT_OK(ABT_thread_revive_to(self_pool(), count, &ran, &first));
    EXPECT_OK(ABT_thread_join(first));
    EXPECT_EQ(ran, 2);
    body sleeps = [&] {
      EXPECT_OK(ABT_self_suspend());
      ++ran;
    };
    sleeper = some.create(sleeps);
    yield_until([&] { return state_of(sleeper) == ABT_THREAD_STATE_BLOCKED; });
    body wakes = [&] { ABT_self_resume_exit_to(sleeper); };
    waker = some.create(wakes);
    for (ABT_thread* t : {&waker, &sleeper, &first})
      EXPECT_OK(ABT_thread_free(t));
    EXPECT_EQ(ran, 3);
  }
}

TEST(ABTX_thread_attr_set_preemption, of_many_made_at_once) {
  if (not_on_this_machine())
    GTEST_SKIP();
  for (const ABTX_preemption kind : kinds) {
    const runtime rt;
    const preemptible some(kind);
    constexpr int n = 3;
    std::atomic<int> ran{0};
    ABT_pool pools[n] = {self_pool(), self_pool(), self_pool()};
    void (*functions[n])(void*) = {count, count, count};
    void* arguments[n] = {&ran, &ran, &ran};
    ABT_thread made[n];
    EXPECT_OK(ABT_thread_create_many(n, pools, functions, arguments, some.attr(), made));
    EXPECT_OK(ABT_thread_free_many(n, made));
    EXPECT_EQ(ran, n);
    pools[n - 1] = ABT_POOL_NULL; // those before it are taken back, with all they have
    EXPECT_ABT(ABT_ERR_INV_POOL, ABT_thread_create_many(n, pools, functions, arguments, some.attr(), made));
    EXPECT_EQ(ran, n);
  }
}

TEST(ABTX_thread_attr_set_preemption, own_kernel_thread_is_kept) {
  if (not_on_this_machine())
    GTEST_SKIP();
  const runtime rt;
  ASSERT_OK(ABTX_preemption_set_interval(200e-6));
  const preemptible some(ABTX_PREEMPTION_OWN_KERNEL_THREAD);
  std::atomic<bool> go_on{false};
  pid_t before = 0, after = 0, others = 0;
  body spin = [&] {
    before = ::gettid();
    while (!go_on)
      asm volatile("" ::: "memory");
    after = ::gettid();
  };
  body release = [&] {
    others = ::gettid();
    go_on = true;
  };
  ABT_thread spinner = some.create(spin);
  ABT_thread other = new_thread(self_pool(), release);
  EXPECT_OK(ABT_thread_free(&spinner));
  EXPECT_OK(ABT_thread_free(&other));
  EXPECT_EQ(after, before);
  EXPECT_NE(others, before); // the stream went on on another one
}

struct marked {
  std::atomic<int>* destroyed = nullptr;
  int value = 0;
  const body* at_end = nullptr;
  ~marked() {
    if (at_end != nullptr)
      (*at_end)();
    if (destroyed != nullptr)
      ++*destroyed;
  }
};
thread_local marked of_its_own;

[[gnu::noinline]] marked& its_own() {
  asm volatile("" ::: "memory");
  return of_its_own;
}

TEST(ABTX_thread_attr_set_preemption, bound_tls_is_made_anew_and_destroyed) {
  if (not_on_this_machine())
    GTEST_SKIP();
  const runtime rt;
  const preemptible some(ABTX_PREEMPTION_BOUND_TLS);
  constexpr int n = 4;
  std::atomic<int> destroyed{0};
  std::vector<ABT_thread> all;
  body uses = [&] {
    EXPECT_EQ(its_own().value, 0);
    its_own().destroyed = &destroyed;
    for (int i = 1; i <= 10; ++i) {
      ++its_own().value;
      EXPECT_OK(ABT_self_yield());
      EXPECT_EQ(its_own().value, i);
    }
  };
  for (int i = 0; i < n; ++i)
    all.push_back(some.create(uses));
  for (ABT_thread t : all)
    EXPECT_OK(ABT_thread_join(t));
  EXPECT_EQ(destroyed, n);
  EXPECT_OK(ABT_thread_revive(self_pool(), run_function, &uses, &all[0]));
  for (ABT_thread& t : all)
    EXPECT_OK(ABT_thread_free(&t));
  EXPECT_EQ(destroyed, n + 1);
}

// More than WEFT_PREEMPTION_DONORS cannot be had at a time, where each takes a kernel thread.
TEST(ABTX_thread_attr_set_preemption, bound_tls_that_cannot_be_revived_has_ended) {
  if (not_on_this_machine())
    GTEST_SKIP();
  ASSERT_EQ(::setenv("WEFT_PREEMPTION_BLOCKS", "donors", 1), 0); // read once: each test is a process
  const runtime rt;
  const preemptible some(ABTX_PREEMPTION_BOUND_TLS);
  body nothing = [] {};
  body sleeps = [] { ABT_self_suspend(); };
  ABT_thread ended = some.create(nothing);
  EXPECT_OK(ABT_thread_join(ended));
  std::vector<ABT_thread> all;
  ABT_thread next = ABT_THREAD_NULL;
  while (ABT_thread_create(self_pool(), run_function, &sleeps, some.attr(), &next) == ABT_SUCCESS)
    all.push_back(next);
  EXPECT_ABT(ABT_ERR_SYS, ABT_thread_revive(self_pool(), run_function, &nothing, &ended));
  EXPECT_EQ(state_of(ended), ABT_THREAD_STATE_TERMINATED);
  for (ABT_thread& t : all) {
    resume_when_blocked(t);
    EXPECT_OK(ABT_thread_free(&t));
  }
  EXPECT_OK(ABT_thread_revive(self_pool(), run_function, &nothing, &ended));
  EXPECT_OK(ABT_thread_free(&ended));
}

// Its end takes a while. It belongs to its pool until then, and to another if it is told to go there.
TEST(ABTX_thread_attr_set_preemption, bound_tls_may_migrate_at_its_end) {
  if (not_on_this_machine())
    GTEST_SKIP();
  const runtime rt;
  const streams es(2);
  const preemptible some(ABTX_PREEMPTION_BOUND_TLS);
  std::atomic<ABT_thread> t = ABT_THREAD_NULL;
  int code = -1;
  body move = [&] {
    code = ABT_thread_migrate_to_pool(t, es.pool(1));
    while (code == ABT_SUCCESS && last_pool_of(t) != es.pool(1))
      std::this_thread::yield();
  };
  body uses = [&] {
    while (t == ABT_THREAD_NULL)
      EXPECT_OK(ABT_self_yield());
    its_own().at_end = &move;
  };
  ABT_thread made = ABT_THREAD_NULL;
  ASSERT_OK(ABT_thread_create(es.pool(0), run_function, &uses, some.attr(), &made));
  t = made;
  EXPECT_OK(ABT_thread_join(made));
  EXPECT_OK(code);
  for (const std::size_t i : {0U, 1U}) {
    std::size_t left = SIZE_MAX;
    EXPECT_OK(ABT_pool_get_total_size(es.pool(i), &left));
    EXPECT_EQ(left, 0U) << i;
  }
  EXPECT_OK(ABT_thread_free(&made));
}

// Whatever its attributes say; ten intervals are long enough for a tick, if there were any.
TEST(ABTX_thread_attr_set_preemption, nothing_interrupts_what_runs_to_completion) {
  if (not_on_this_machine())
    GTEST_SKIP();
  for (const ABTX_preemption kind : kinds) {
    const runtime rt;
    ASSERT_OK(ABTX_preemption_set_interval(200e-6));
    const preemptible some(kind);
    body sleeps = [] { ABT_self_suspend(); };
    ABT_thread keeps_ticks_coming = some.create(sleeps);
    yield_until([&] { return state_of(keeps_ticks_coming) == ABT_THREAD_STATE_BLOCKED; });
    ASSERT_OK(ABTX_thread_attr_set_technique(some.attr(), ABTX_TECHNIQUE_RUN_TO_COMPLETION));
    std::atomic<bool> other_ran{false};
    body runs = [&] { other_ran = true; };
    ABT_thread other = ABT_THREAD_NULL;
    body computes = [&] {
      other = new_thread(self_pool(), runs);
      for (const double until = ABT_get_wtime() + 2e-3; ABT_get_wtime() < until;) {
      }
      EXPECT_FALSE(other_ran);
    };
    ABT_thread t = some.create(computes);
    EXPECT_OK(ABT_thread_free(&t));
    EXPECT_OK(ABT_thread_free(&other));
    EXPECT_OK(ABT_thread_resume(keeps_ticks_coming));
    EXPECT_OK(ABT_thread_free(&keeps_ticks_coming));
  }
}

TEST(ABTX_thread_attr_set_preemption, a_technique_of_each_kind) {
  if (not_on_this_machine())
    GTEST_SKIP();
  for (const ABTX_preemption kind : kinds) {
    const runtime rt;
    ASSERT_OK(ABTX_preemption_set_interval(200e-6));
    for (int technique = ABTX_TECHNIQUE_FULL_LAZY; technique <= ABTX_TECHNIQUE_C_ROC_EAGER_RELEASE;
         ++technique) {
      const preemptible some(kind);
      ASSERT_OK(ABTX_thread_attr_set_technique(some.attr(), static_cast<ABTX_technique>(technique)));
      std::atomic<bool> go_on{false};
      body release = [&] { go_on = true; };
      // A tasklet is not interrupted, whatever its attributes say.
      const bool tasklet = technique == ABTX_TECHNIQUE_RUN_TO_COMPLETION;
      const ABT_pool pool = self_pool();
      ABT_thread other = ABT_THREAD_NULL;
      int made = -1;
      body spin = [&] {
        made = ABT_thread_create(pool, run_function, &release, ABT_THREAD_ATTR_NULL, &other);
        while (!go_on && !tasklet)
          asm volatile("" ::: "memory");
      };
      ABT_thread spinner = some.create(spin);
      ABTX_preemption told = ABTX_PREEMPTION_COOPERATIVE;
      EXPECT_OK(ABTX_thread_get_preemption(spinner, &told));
      EXPECT_EQ(told, tasklet ? ABTX_PREEMPTION_COOPERATIVE : kind) << technique;
      EXPECT_OK(ABT_thread_free(&spinner));
      EXPECT_OK(made);
      EXPECT_OK(ABT_thread_free(&other));
    }
  }
}

TEST(ABTX_thread_attr_set_preemption, refuses_what_is_no_kind) {
  const runtime rt;
  ABT_thread_attr attr = ABT_THREAD_ATTR_NULL;
  ASSERT_OK(ABT_thread_attr_create(&attr));
  for (const int wrong : {ABTX_PREEMPTION_BOUND_TLS + 1, 77, -1})
    EXPECT_ABT(ABT_ERR_INV_ARG, ABTX_thread_attr_set_preemption(attr, static_cast<ABTX_preemption>(wrong)));
  ABTX_preemption told = ABTX_PREEMPTION_OWN_TLS;
  EXPECT_OK(ABTX_thread_attr_get_preemption(attr, &told));
  EXPECT_EQ(told, ABTX_PREEMPTION_COOPERATIVE);
  EXPECT_OK(ABT_thread_attr_free(&attr));
}

TEST(ABTX_preemption_set_interval, is_what_get_interval_says) {
  double before = 0, now = 0;
  EXPECT_OK(ABTX_preemption_get_interval(&before));
  EXPECT_OK(ABTX_preemption_set_interval(500e-6));
  EXPECT_OK(ABTX_preemption_get_interval(&now));
  EXPECT_NEAR(now, 500e-6, 1e-9);
  EXPECT_OK(ABTX_preemption_set_interval(before));
}

TEST(ABTX_preemption_get_interval, is_in_seconds) {
  double now = 0;
  EXPECT_OK(ABTX_preemption_get_interval(&now));
  EXPECT_GE(now, 50e-6);
  EXPECT_LE(now, 1.0);
}

TEST(ABTX_preemption_set_interval, refuses_what_is_none) {
  double before = 0, now = 0;
  EXPECT_OK(ABTX_preemption_get_interval(&before));
  for (const double wrong : {-1.0, 0.0, 1e-9, 2.0, std::nan("")})
    EXPECT_ABT(ABT_ERR_INV_ARG, ABTX_preemption_set_interval(wrong));
  EXPECT_OK(ABTX_preemption_get_interval(&now));
  EXPECT_EQ(now, before);
}

TEST(ABTX_preemption_get_interval, refuses_no_place_for_it) {
  EXPECT_ABT(ABT_ERR_INV_ARG, ABTX_preemption_get_interval(nullptr));
}

} // namespace
} // namespace abt_test
