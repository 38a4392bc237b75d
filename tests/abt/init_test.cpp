// SPDX-License-Identifier: MIT
// ABT_init, ABT_finalize and ABT_initialized: nesting, who may finalize, starting again, the environment.
#include <csignal>
#include <thread>

#include "abt_test.hpp"
#include "user_defs.hpp"

namespace {

using namespace abt_test;

template <class T>
T query(ABT_info_query_kind kind) {
  T value{};
  EXPECT_OK(ABT_info_query_config(kind, &value));
  return value;
}

std::size_t thread_stack_size() {
  return query<std::size_t>(ABT_INFO_QUERY_KIND_DEFAULT_THREAD_STACKSIZE);
}

TEST(ABT_init, makes_the_caller_the_primary_thread_of_rank_0) {
  const runtime rt;
  ABT_bool primary = ABT_FALSE;
  EXPECT_OK(ABT_self_is_primary(&primary));
  EXPECT_EQ(primary, ABT_TRUE);
  int rank = -1;
  EXPECT_OK(ABT_xstream_self_rank(&rank));
  EXPECT_EQ(rank, 0);
  EXPECT_OK(ABT_xstream_is_primary(self_xstream(), &primary));
  EXPECT_EQ(primary, ABT_TRUE);
  int count = 0;
  EXPECT_OK(ABT_xstream_get_num(&count));
  EXPECT_EQ(count, 1);
}

TEST(ABT_init, ignores_its_arguments) {
  char name[] = "program";
  char option[] = "--unknown";
  char* arguments[] = {name, option, nullptr};
  ASSERT_OK(ABT_init(2, arguments));
  EXPECT_STREQ(arguments[1], "--unknown");
  EXPECT_OK(ABT_finalize());
}

TEST(ABT_init, nests) {
  const runtime outer;
  const ABT_xstream es = self_xstream();
  for (int i = 0; i < 3; ++i)
    ASSERT_OK(ABT_init(0, nullptr));
  for (int i = 0; i < 3; ++i) {
    EXPECT_OK(ABT_finalize());
    EXPECT_OK(ABT_initialized());
    EXPECT_EQ(self_xstream(), es);
  }
}

TEST(ABT_init, nests_in_any_context) {
  const runtime outer;
  const streams es(1);
  const body nested = [] {
    EXPECT_OK(ABT_init(0, nullptr));
    EXPECT_OK(ABT_initialized());
    EXPECT_OK(ABT_finalize());
    EXPECT_OK(ABT_initialized());
  };
  in_thread(nested);
  in_thread(nested, es.pool(0));
  in_tasklet(nested);
  in_kernel_thread(nested);
}

TEST(ABT_init, works_again_after_finalize) {
  for (int i = 0; i < 5; ++i) {
    const runtime rt;
    const streams es(2);
    EXPECT_EQ(run_many(es.pool(i % 2), 10), 20);
  }
}

// The caller need not be the thread that runs main().
TEST(ABT_init, works_on_any_kernel_thread) {
  for (int i = 0; i < 2; ++i) {
    std::thread other([] {
      const runtime rt;
      ABT_bool primary = ABT_FALSE;
      EXPECT_OK(ABT_self_is_primary(&primary));
      EXPECT_EQ(primary, ABT_TRUE);
      const streams es(1);
      EXPECT_EQ(run_many(es.pool(0), 5), 10);
    });
    other.join();
    EXPECT_ABT(ABT_ERR_UNINITIALIZED, ABT_initialized());
  }
}

TEST(ABT_init, reads_the_environment_each_time) {
  const auto size_with = [](const char* value) {
    const environment env{{"ABT_THREAD_STACKSIZE", value}};
    const runtime rt;
    return thread_stack_size();
  };
  EXPECT_EQ(size_with("131072"), 131072U);
  EXPECT_EQ(size_with("262144"), 262144U);
  EXPECT_GE(size_with("1"), 512U); // the least that is allowed
}

TEST(ABT_init, reads_a_second_prefix_that_the_first_one_overrides) {
  unsetenv("ABT_MAX_NUM_XSTREAMS");
  const environment second{{"ABT_ENV_MAX_NUM_XSTREAMS", "7"}};
  {
    const runtime rt;
    EXPECT_EQ(query<unsigned>(ABT_INFO_QUERY_KIND_MAX_NUM_XSTREAMS), 7U);
  }
  const environment first{{"ABT_MAX_NUM_XSTREAMS", "9"}};
  const runtime rt;
  EXPECT_EQ(query<unsigned>(ABT_INFO_QUERY_KIND_MAX_NUM_XSTREAMS), 9U);
}

TEST(ABT_init, takes_the_default_for_a_number_that_is_none) {
  std::uint64_t standard = 0;
  {
    const runtime rt;
    standard = query<std::uint64_t>(ABT_INFO_QUERY_KIND_DEFAULT_SCHED_EVENT_FREQ);
  }
  const environment env{{"ABT_SCHED_EVENT_FREQ", "many"}};
  const runtime rt;
  EXPECT_EQ(query<std::uint64_t>(ABT_INFO_QUERY_KIND_DEFAULT_SCHED_EVENT_FREQ), standard);
}

TEST(ABT_init, takes_the_other_numbers_from_the_environment) {
  const environment env{{"ABT_SCHED_STACKSIZE", "1048576"},
                        {"ABT_SCHED_EVENT_FREQ", "13"},
                        {"ABT_SCHED_SLEEP_NSEC", "1234"},
                        {"ABT_STACK_OVERFLOW_CHECK", "mprotect_strict"},
                        {"ABT_KEY_TABLE_SIZE", "16"}};
  const runtime rt;
  EXPECT_GE(query<std::size_t>(ABT_INFO_QUERY_KIND_DEFAULT_SCHED_STACKSIZE), 1048576U);
  EXPECT_EQ(query<std::uint64_t>(ABT_INFO_QUERY_KIND_DEFAULT_SCHED_EVENT_FREQ), 13U);
  EXPECT_EQ(query<std::uint64_t>(ABT_INFO_QUERY_KIND_DEFAULT_SCHED_SLEEP_NSEC), 1234U);
  EXPECT_EQ(query<int>(ABT_INFO_QUERY_KIND_ENABLED_STACK_OVERFLOW_CHECK), 2); // pages, but not in any case
  EXPECT_EQ(run_many(self_pool(), 5), 10);
}

// Stacks are made once in a process, so each word has a test.
void expect_overflow_check(const char* word, int answer) {
  const environment env{{"ABT_STACK_OVERFLOW_CHECK", word}};
  const runtime rt;
  EXPECT_EQ(query<int>(ABT_INFO_QUERY_KIND_ENABLED_STACK_OVERFLOW_CHECK), answer);
  EXPECT_EQ(run_many(self_pool(), 5), 10);
}
TEST(ABT_init, leaves_guards_out_where_the_environment_says_so) {
  expect_overflow_check("none", 0);
  expect_overflow_check("mprotect", 0); // what holds: there are stacks without
}
TEST(ABT_init, takes_canaries_for_guards) {
  expect_overflow_check("canary", 1);
}
TEST(ABT_init, guards_stacks_if_nothing_else_is_said) {
  expect_overflow_check("", 2);
}
TEST(ABT_init, guards_stacks_if_what_is_said_is_no_check) {
  expect_overflow_check("perhaps", 2);
}

// The variable is where to start, not a limit.
TEST(ABT_init, allows_more_streams_than_the_environment_says) {
  const environment env{{"ABT_MAX_NUM_XSTREAMS", "1"}};
  const runtime rt;
  const streams es(3);
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_EQ(run_many(es.pool(i), 2), 4);
}

TEST(ABT_init, prints_its_configuration_when_asked) {
  const environment env{{"ABT_PRINT_CONFIG", "yes"}};
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  {
    const runtime rt;
    EXPECT_EQ(query<ABT_bool>(ABT_INFO_QUERY_KIND_ENABLED_PRINT_CONFIG), ABT_TRUE);
  }
  std::fflush(nullptr);
  const std::string out = testing::internal::GetCapturedStdout();
  const std::string err = testing::internal::GetCapturedStderr();
  EXPECT_FALSE(out.empty() && err.empty());
}

TEST(ABT_init, reads_truth_values_in_any_case) {
  for (const auto& [text, expected] :
       std::initializer_list<std::pair<const char*, ABT_bool>>{{"1", ABT_TRUE},
                                                               {"Y", ABT_TRUE},
                                                               {"TRUE", ABT_TRUE},
                                                               {"On", ABT_TRUE},
                                                               {"0", ABT_FALSE},
                                                               {"no", ABT_FALSE},
                                                               {"whatever", ABT_FALSE}}) {
    const environment env{{"ABT_PRINT_CONFIG", text}};
    testing::internal::CaptureStdout();
    {
      const runtime rt;
      EXPECT_EQ(query<ABT_bool>(ABT_INFO_QUERY_KIND_ENABLED_PRINT_CONFIG), expected) << text;
    }
    testing::internal::GetCapturedStdout();
  }
}

TEST(ABT_finalize, ends_the_runtime) {
  ASSERT_OK(ABT_init(0, nullptr));
  EXPECT_OK(ABT_finalize());
  EXPECT_ABT(ABT_ERR_UNINITIALIZED, ABT_initialized());
}

TEST(ABT_finalize, runs_what_the_primary_stream_still_has) {
  std::atomic<int> ran = 0;
  body f = [&ran] {
    EXPECT_OK(ABT_thread_yield());
    ++ran;
  };
  {
    const runtime rt;
    for (int i = 0; i < 10; ++i)
      EXPECT_OK(ABT_thread_create(self_pool(), run_function, &f, ABT_THREAD_ATTR_NULL, nullptr));
  }
  EXPECT_EQ(ran, 10);
}

// Though neither the scheduler nor the pool is automatic. A free callback may be called only once.
TEST(ABT_finalize, frees_the_primary_scheduler_and_its_pools) {
  static std::atomic<int> freed;
  freed = 0;
  user_fifo fifo;
  {
    const runtime rt;
    const ABT_pool pool = make_user_pool(fifo, callbacks::all);
    ABT_sched_def def = make_sched_def();
    def.free = [](ABT_sched) {
      ++freed;
      return static_cast<int>(ABT_SUCCESS);
    };
    std::vector<ABT_pool> pools{pool};
    ABT_sched sched = ABT_SCHED_NULL;
    ASSERT_OK(ABT_sched_create(&def, 1, pools.data(), ABT_SCHED_CONFIG_NULL, &sched));
    ASSERT_OK(ABT_xstream_set_main_sched(self_xstream(), sched));
    EXPECT_EQ(run_many(pool, 5), 10);
  }
  EXPECT_EQ(freed, 1);
  EXPECT_EQ(fifo.frees, 1);
  EXPECT_EQ(fifo.units, 0);
}

TEST(ABT_finalize, refuses_when_nothing_was_initialized) {
  EXPECT_ABT(ABT_ERR_UNINITIALIZED, ABT_finalize());
  {
    const runtime rt;
  }
  EXPECT_ABT(ABT_ERR_UNINITIALIZED, ABT_finalize());
}

TEST(ABT_finalize, refuses_all_but_the_primary_thread) {
  const runtime rt;
  const streams es(1);
  in_thread([] { EXPECT_ABT(ABT_ERR_INV_THREAD, ABT_finalize()); });
  in_tasklet([] { EXPECT_ABT(ABT_ERR_INV_THREAD, ABT_finalize()); });
  in_kernel_thread([] { EXPECT_ABT(ABT_ERR_INV_XSTREAM, ABT_finalize()); });
  in_thread([] { EXPECT_NE(ABT_SUCCESS, ABT_finalize()); }, es.pool(0));
  EXPECT_OK(ABT_initialized());
  EXPECT_EQ(run_many(es.pool(0), 2), 4);
}

TEST(ABT_initialized, tells_in_every_context) {
  const runtime rt;
  const body check = [] { EXPECT_OK(ABT_initialized()); };
  check();
  in_thread(check);
  in_tasklet(check);
  in_kernel_thread(check);
}

TEST(ABT_initialized, may_be_asked_in_a_signal_handler) {
  static std::atomic<int> answer;
  const auto old = std::signal(SIGUSR2, [](int) { answer = ABT_initialized(); });
  answer = -1;
  std::raise(SIGUSR2);
  EXPECT_EQ(answer, ABT_ERR_UNINITIALIZED);
  {
    const runtime rt;
    std::raise(SIGUSR2);
    EXPECT_EQ(answer, ABT_SUCCESS);
  }
  std::signal(SIGUSR2, old);
}

TEST(ABT_initialized, refuses_before_and_after) {
  EXPECT_ABT(ABT_ERR_UNINITIALIZED, ABT_initialized());
  {
    const runtime rt;
  }
  EXPECT_ABT(ABT_ERR_UNINITIALIZED, ABT_initialized());
  std::thread([] { EXPECT_ABT(ABT_ERR_UNINITIALIZED, ABT_initialized()); }).join();
}

} // namespace
