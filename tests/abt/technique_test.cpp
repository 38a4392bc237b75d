// SPDX-License-Identifier: MIT
// Every threading technique from C, under each deviation: on a stream's own pool, on one that is shared, by
// priority, and under loops that the user wrote.
#include <atomic>
#include <string>
#include <tuple>
#include <vector>

#include "abtx.h"
#include "front/abt/technique.hpp"
#include "units.hpp"
#include "user_defs.hpp"
#include "weft/arch/arch.hpp"
#include "weft/technique/called.hpp"
#include "weft/workers/worker.hpp"

namespace abt_test {
namespace {

constexpr ABTX_technique every[] = {ABTX_TECHNIQUE_FULL,   ABTX_TECHNIQUE_FULL_LAZY,
                                    ABTX_TECHNIQUE_ROC,    ABTX_TECHNIQUE_ROC_LAZY,
                                    ABTX_TECHNIQUE_SS,     ABTX_TECHNIQUE_SS_LAZY,
                                    ABTX_TECHNIQUE_SC,     ABTX_TECHNIQUE_INLINE_JOIN,
                                    ABTX_TECHNIQUE_C_FULL, ABTX_TECHNIQUE_C_FULL_EAGER_RELEASE,
                                    ABTX_TECHNIQUE_C_ROC,  ABTX_TECHNIQUE_C_ROC_EAGER_RELEASE};

bool is_child_first(ABTX_technique t) {
  return t >= ABTX_TECHNIQUE_C_FULL;
}

class attributes_of {
 public:
  explicit attributes_of(ABTX_technique t) {
    EXPECT_OK(ABT_thread_attr_create(&attr_));
    EXPECT_OK(ABTX_thread_attr_set_technique(attr_, t));
  }
  ~attributes_of() { EXPECT_OK(ABT_thread_attr_free(&attr_)); }
  attributes_of(const attributes_of&) = delete;
  attributes_of& operator=(const attributes_of&) = delete;
  operator ABT_thread_attr() const { return attr_; }

 private:
  ABT_thread_attr attr_ = ABT_THREAD_ATTR_NULL;
};

// Who schedules on the primary stream.
enum class setting { own_pool, shared_pool, priority, loop_over_threads, loop_over_units };
constexpr setting settings[] = {setting::own_pool, setting::shared_pool, setting::priority,
                                setting::loop_over_threads, setting::loop_over_units};
constexpr const char* setting_names[] = {"own", "shared", "priority", "loop", "unit_loop"};

class ABTX_technique_test : public ::testing::TestWithParam<std::tuple<ABTX_technique, setting>> {
 protected:
  void SetUp() override {
    const ABT_pool_access access = where() == setting::own_pool ? ABT_POOL_ACCESS_PRIV : ABT_POOL_ACCESS_MPMC;
    EXPECT_OK(ABT_pool_create_basic(ABT_POOL_FIFO, access, is_loop() ? ABT_FALSE : ABT_TRUE, &pool_));
    if (is_loop()) {
      loop_ = make_user_sched({pool_}, where() == setting::loop_over_units ? run_unit_sched : run_user_sched);
      EXPECT_OK(ABT_xstream_set_main_sched(self_xstream(), loop_));
    } else if (where() == setting::priority) {
      ABT_pool pools[] = {pool_, make_pool(ABT_TRUE)}; // main is in the first, with the others: it yields
      EXPECT_OK(ABT_xstream_set_main_sched_basic(self_xstream(), ABT_SCHED_PRIO, 2, pools));
    } else {
      EXPECT_OK(ABT_xstream_set_main_sched_basic(self_xstream(), ABT_SCHED_BASIC, 1, &pool_));
    }
    attr_ = std::make_unique<attributes_of>(technique());
  }
  void TearDown() override {
    attr_.reset();
    if (!is_loop())
      return;
    EXPECT_OK(ABT_xstream_set_main_sched(self_xstream(), ABT_SCHED_NULL));
    EXPECT_OK(ABT_sched_free(&loop_));
    EXPECT_OK(ABT_pool_free(&pool_));
  }

  static setting where() { return std::get<1>(GetParam()); }
  static bool is_loop() {
    return where() == setting::loop_over_threads || where() == setting::loop_over_units;
  }
  static ABTX_technique technique() { return std::get<0>(GetParam()); }
  ABT_thread start(body& f) { return new_thread(pool_, f, *attr_); }
  void run_many(int n, const std::function<void(int)>& f, bool free_only = false) {
    std::vector<body> bodies(static_cast<std::size_t>(n));
    std::vector<ABT_thread> threads;
    for (int i = 0; i < n; ++i) {
      body& b = bodies[static_cast<std::size_t>(i)] = [&f, i] { f(i); };
      threads.push_back(start(b));
    }
    for (ABT_thread& t : threads) {
      if (!free_only) {
        EXPECT_OK(ABT_thread_join(t));
      }
      EXPECT_OK(ABT_thread_free(&t));
    }
  }

  runtime rt_;
  ABT_pool pool_ = ABT_POOL_NULL;
  ABT_sched loop_ = ABT_SCHED_NULL;
  std::unique_ptr<attributes_of> attr_;
};

INSTANTIATE_TEST_SUITE_P(each, ABTX_technique_test,
                         ::testing::Combine(::testing::ValuesIn(every), ::testing::ValuesIn(settings)),
                         [](const auto& info) {
                           return std::to_string(std::get<0>(info.param)) + "_" +
                                  setting_names[static_cast<int>(std::get<1>(info.param))];
                         });

TEST_P(ABTX_technique_test, runs_to_the_end) {
  int sum = 0;
  run_many(100, [&sum](int i) { sum += i; });
  run_many(100, [&sum](int i) { sum += i; }, true);
  EXPECT_EQ(sum, 9900);
}

TEST_P(ABTX_technique_test, yields) {
  int rounds = 0;
  for (const bool free_only : {false, true}) {
    run_many(
        40,
        [&rounds](int i) {
          for (int k = 0; k < i % 4; ++k, ++rounds)
            EXPECT_OK(ABT_self_yield());
        },
        free_only);
  }
  EXPECT_EQ(rounds, 120);
}

TEST_P(ABTX_technique_test, exits_in_the_middle) {
  int before = 0, after = 0;
  run_many(40, [&](int i) {
    ++before;
    if (i % 2 == 0) {
      EXPECT_OK(ABT_self_yield());
    }
    if (i % 4 < 2)
      ABT_thread_exit();
    ++after;
  });
  EXPECT_EQ(before, 40);
  EXPECT_EQ(after, 20);
}

TEST_P(ABTX_technique_test, waits_for_a_mutex) {
  ABT_mutex m = ABT_MUTEX_NULL;
  ASSERT_OK(ABT_mutex_create(&m));
  int count = 0;
  run_many(40, [&](int i) {
    EXPECT_OK(ABT_mutex_lock(m));
    const int seen = count;
    if (i % 3 == 0) {
      EXPECT_OK(ABT_self_yield());
    }
    count = seen + 1;
    EXPECT_OK(ABT_mutex_unlock(m));
  });
  EXPECT_EQ(count, 40);
  EXPECT_OK(ABT_mutex_free(&m));
}

TEST_P(ABTX_technique_test, suspends_and_is_resumed) {
  int resumed = 0;
  body f = [&resumed] {
    EXPECT_OK(ABT_self_suspend());
    ++resumed;
  };
  ABT_thread t = start(f);
  resume_when_blocked(t);
  EXPECT_OK(ABT_thread_free(&t));
  EXPECT_EQ(resumed, 1);
}

TEST_P(ABTX_technique_test, is_cancelled_before_and_after_its_start) {
  for (const bool started : {false, true}) {
    body f = [] {
      for (;;)
        EXPECT_OK(ABT_self_yield());
    };
    ABT_thread t = start(f);
    if (started) {
      EXPECT_OK(ABT_self_yield());
    }
    EXPECT_OK(ABT_thread_cancel(t));
    EXPECT_OK(ABT_thread_free(&t));
  }
}

TEST_P(ABTX_technique_test, joins_its_own) {
  std::function<int(int)> leaves = [&](int depth) {
    if (depth == 0)
      return 1;
    int left = 0;
    body f = [&] { left = leaves(depth - 1); };
    ABT_thread t = start(f);
    const int right = leaves(depth - 1);
    EXPECT_OK(ABT_thread_free(&t));
    return left + right;
  };
  EXPECT_EQ(leaves(6), 64);
  in_thread([&] { EXPECT_EQ(leaves(6), 64); }, pool_);
}

TEST_P(ABTX_technique_test, moves_to_another_stream) {
  streams others(1);
  int rank = -1;
  ABT_eventual asked = ABT_EVENTUAL_NULL;
  ASSERT_OK(ABT_eventual_create(0, &asked));
  body f = [&] {
    EXPECT_OK(ABT_eventual_wait(asked, nullptr));
    EXPECT_OK(ABT_self_yield());
    EXPECT_OK(ABT_self_get_xstream_rank(&rank));
  };
  ABT_thread t = start(f);
  EXPECT_OK(ABT_thread_migrate_to_xstream(t, others[0]));
  EXPECT_OK(ABT_eventual_set(asked, nullptr, 0));
  EXPECT_OK(ABT_thread_free(&t));
  EXPECT_EQ(rank, 1);
  EXPECT_OK(ABT_eventual_free(&asked));
}

TEST_P(ABTX_technique_test, keeps_its_technique_when_it_is_revived) {
  int runs = 0;
  ABTX_technique inside = ABTX_TECHNIQUE_DEFAULT;
  body f = [&] {
    EXPECT_OK(ABTX_thread_get_technique(self(), &inside));
    EXPECT_OK(ABT_self_yield());
    ++runs;
  };
  ABT_thread t = start(f);
  for (int i = 0; i < 3; ++i) {
    EXPECT_OK(ABT_thread_join(t));
    EXPECT_EQ(runs, i + 1);
    EXPECT_EQ(inside, technique());
    inside = ABTX_TECHNIQUE_DEFAULT;
    EXPECT_OK(ABT_thread_revive(pool_, run_function, &f, &t));
  }
  EXPECT_OK(ABT_thread_free(&t));
}

TEST_P(ABTX_technique_test, of_unnamed_ones_and_of_many) {
  std::atomic<int> ran{0};
  for (int i = 0; i < 10; ++i)
    EXPECT_OK(ABT_thread_create(pool_, count, &ran, *attr_, nullptr));
  yield_until([&ran] { return ran == 10; });
  ABT_pool pools[10];
  void (*functions[10])(void*);
  void* arguments[10];
  ABT_thread threads[10];
  for (int i = 0; i < 10; ++i) {
    pools[i] = pool_;
    functions[i] = count;
    arguments[i] = &ran;
  }
  EXPECT_OK(ABT_thread_create_many(10, pools, functions, arguments, *attr_, threads));
  EXPECT_OK(ABT_thread_free_many(10, threads));
  EXPECT_EQ(ran, 20);
}

TEST_P(ABTX_technique_test, runs_first_what_it_should) {
  bool ran = false;
  body f = [&ran] { ran = true; };
  ABT_thread t = start(f);
  EXPECT_EQ(ran, is_child_first(technique()));
  EXPECT_OK(ABT_thread_free(&t));
}

// Those whose starter calls them are called by the user's loop as well: it stands on a stack of its own,
// which waits for them or is continued in their place.
TEST_P(ABTX_technique_test, is_called_where_it_should) {
  using weft::technique::called;
  bool was_called = false;
  body f = [&was_called] {
    const weft::sched::worker& w = weft::sched::here();
    was_called = w.called == w.current;
  };
  ABT_thread t = start(f);
  EXPECT_OK(ABT_self_yield()); // it is started by the scheduler, not by its joiner
  EXPECT_OK(ABT_thread_free(&t));
  const weft::unit::technique_id core = weft::abt::core_technique(technique()).value();
  EXPECT_EQ(was_called, called::possible && called::includes(core));
}

TEST(ABTX_thread_attr_set_technique, SC_has_no_stack_size_of_its_own) {
  const runtime rt;
  const attributes_of attr(ABTX_TECHNIQUE_SC);
  EXPECT_OK(ABT_thread_attr_set_stacksize(attr, 256 << 10));
  ABT_thread t = untouched<ABT_thread>();
  EXPECT_ABT(ABT_ERR_INV_THREAD_ATTR, ABT_thread_create(self_pool(), nothing, nullptr, attr, &t));
  EXPECT_EQ(t, ABT_THREAD_NULL);
}

// --- of pools ---

TEST(ABTX_pool_set_technique, is_what_threads_get) {
  const runtime rt;
  for (const ABT_pool_access access : {ABT_POOL_ACCESS_PRIV, ABT_POOL_ACCESS_MPMC}) {
    ABT_pool pool = ABT_POOL_NULL;
    ASSERT_OK(ABT_pool_create_basic(ABT_POOL_FIFO, access, ABT_TRUE, &pool));
    ASSERT_OK(ABT_xstream_set_main_sched_basic(self_xstream(), ABT_SCHED_BASIC, 1, &pool));
    for (const ABTX_technique t : every) {
      ASSERT_OK(ABTX_pool_set_technique(pool, t));
      ABTX_technique seen = ABTX_TECHNIQUE_DEFAULT;
      in_thread([&seen] { EXPECT_OK(ABTX_thread_get_technique(self(), &seen)); }, pool);
      EXPECT_EQ(seen, t);
      // With a stack size of its own SC cannot be.
      const attributes_of own(ABTX_TECHNIQUE_DEFAULT);
      EXPECT_OK(ABT_thread_attr_set_stacksize(own, 256 << 10));
      body f = [&seen] { EXPECT_OK(ABTX_thread_get_technique(self(), &seen)); };
      ABT_thread with_size = new_thread(pool, f, own);
      EXPECT_OK(ABT_thread_free(&with_size));
      EXPECT_EQ(seen, t == ABTX_TECHNIQUE_SC ? ABTX_TECHNIQUE_SS_LAZY : t);
      const attributes_of explicitly(ABTX_TECHNIQUE_ROC_LAZY);
      ABT_thread chosen = new_thread(pool, f, explicitly);
      EXPECT_OK(ABT_thread_free(&chosen));
      EXPECT_EQ(seen, ABTX_TECHNIQUE_ROC_LAZY);
    }
    ASSERT_OK(ABTX_pool_set_technique(pool, ABTX_TECHNIQUE_DEFAULT));
  }
}

TEST(ABTX_pool_set_technique, leaves_tasklets_and_user_pools_at_work) {
  const runtime rt;
  ASSERT_OK(ABTX_pool_set_technique(self_pool(), ABTX_TECHNIQUE_C_ROC));
  int ran = 0;
  in_tasklet([&ran] { ++ran; });
  EXPECT_EQ(ran, 1);
  const user_pool own;
  ASSERT_OK(ABTX_pool_set_technique(own, ABTX_TECHNIQUE_C_ROC));
  body f = [&ran] { ++ran; };
  ABT_thread t = new_thread(own, f);
  EXPECT_EQ(ran, 1); // it waits in the pool
  EXPECT_OK(ABT_self_schedule(own.pop(), ABT_POOL_NULL));
  EXPECT_OK(ABT_thread_free(&t));
  EXPECT_EQ(ran, 2);
}

TEST(ABTX_pool_set_technique, refuses_what_is_none) {
  const runtime rt;
  const own_pool pool;
  for (const int unknown : {-1, static_cast<int>(ABTX_TECHNIQUE_RUN_TO_COMPLETION), 14, 1000})
    EXPECT_ABT(ABT_ERR_INV_ARG, ABTX_pool_set_technique(pool, static_cast<ABTX_technique>(unknown)));
  for (const ABT_pool null : null_pools)
    EXPECT_ABT(ABT_ERR_INV_POOL, ABTX_pool_set_technique(null, ABTX_TECHNIQUE_ROC));
}

TEST(ABTX_pool_get_technique, default_and_as_set) {
  const runtime rt;
  const own_pool pool;
  auto t = static_cast<ABTX_technique>(77);
  EXPECT_OK(ABTX_pool_get_technique(pool, &t));
  EXPECT_EQ(t, ABTX_TECHNIQUE_DEFAULT);
  EXPECT_OK(ABTX_pool_set_technique(pool, ABTX_TECHNIQUE_SS_LAZY));
  EXPECT_OK(ABTX_pool_get_technique(pool, &t));
  EXPECT_EQ(t, ABTX_TECHNIQUE_SS_LAZY);
}

TEST(ABTX_pool_get_technique, refuses_null_pool) {
  const runtime rt;
  ABTX_technique t = ABTX_TECHNIQUE_DEFAULT;
  for (const ABT_pool null : null_pools)
    EXPECT_ABT(ABT_ERR_INV_POOL, ABTX_pool_get_technique(null, &t));
}

} // namespace
} // namespace abt_test
