// SPDX-License-Identifier: MIT
// What the library tells about itself: the configuration, and descriptions and stack dumps as free text.
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "abt_test.hpp"
#include "user_defs.hpp"

namespace {

using namespace abt_test;

// What `print` writes to the FILE that it gets.
std::string printed(const std::function<void(FILE*)>& print) {
  char* text = nullptr;
  std::size_t size = 0;
  FILE* const file = open_memstream(&text, &size);
  print(file);
  std::fclose(file);
  std::string result(text, size);
  std::free(text);
  return result;
}

constexpr std::initializer_list<ABT_info_query_kind> truth_kinds = {
    ABT_INFO_QUERY_KIND_ENABLED_DEBUG,
    ABT_INFO_QUERY_KIND_ENABLED_PRINT_ERRNO,
    ABT_INFO_QUERY_KIND_ENABLED_LOG,
    ABT_INFO_QUERY_KIND_ENABLED_VALGRIND,
    ABT_INFO_QUERY_KIND_ENABLED_CHECK_ERROR,
    ABT_INFO_QUERY_KIND_ENABLED_CHECK_POOL_PRODUCER,
    ABT_INFO_QUERY_KIND_ENABLED_CHECK_POOL_CONSUMER,
    ABT_INFO_QUERY_KIND_ENABLED_PRESERVE_FPU,
    ABT_INFO_QUERY_KIND_ENABLED_THREAD_CANCEL,
    ABT_INFO_QUERY_KIND_ENABLED_TASK_CANCEL,
    ABT_INFO_QUERY_KIND_ENABLED_MIGRATION,
    ABT_INFO_QUERY_KIND_ENABLED_STACKABLE_SCHED,
    ABT_INFO_QUERY_KIND_ENABLED_EXTERNAL_THREAD,
    ABT_INFO_QUERY_KIND_ENABLED_SCHED_SLEEP,
    ABT_INFO_QUERY_KIND_ENABLED_PRINT_CONFIG,
    ABT_INFO_QUERY_KIND_ENABLED_AFFINITY,
    ABT_INFO_QUERY_KIND_ENABLED_TOOL,
    ABT_INFO_QUERY_KIND_FCONTEXT,
    ABT_INFO_QUERY_KIND_DYNAMIC_PROMOTION,
    ABT_INFO_QUERY_KIND_ENABLED_STACK_UNWIND,
    ABT_INFO_QUERY_KIND_ENABLED_LAZY_STACK_ALLOC,
};

// A value and what lies behind it, to see that no more than the type's size is written.
template <class T>
T query(ABT_info_query_kind kind) {
  struct {
    T value;
    unsigned char behind[8];
  } out;
  std::memset(&out, 0x5a, sizeof out);
  EXPECT_OK(ABT_info_query_config(kind, &out.value));
  for (const unsigned char c : out.behind)
    EXPECT_EQ(c, 0x5a) << "kind " << kind;
  return out.value;
}

TEST(ABT_info_query_config, answers_yes_or_no) {
  const runtime rt;
  for (const ABT_info_query_kind kind : truth_kinds) {
    const ABT_bool value = query<ABT_bool>(kind);
    EXPECT_TRUE(value == ABT_TRUE || value == ABT_FALSE) << kind;
  }
  EXPECT_EQ(query<ABT_bool>(ABT_INFO_QUERY_KIND_ENABLED_CHECK_ERROR), ABT_TRUE);
  EXPECT_EQ(query<ABT_bool>(ABT_INFO_QUERY_KIND_ENABLED_THREAD_CANCEL), ABT_TRUE);
  EXPECT_EQ(query<ABT_bool>(ABT_INFO_QUERY_KIND_ENABLED_TASK_CANCEL), ABT_TRUE);
  EXPECT_EQ(query<ABT_bool>(ABT_INFO_QUERY_KIND_ENABLED_MIGRATION), ABT_TRUE);
  EXPECT_EQ(query<ABT_bool>(ABT_INFO_QUERY_KIND_ENABLED_STACKABLE_SCHED), ABT_TRUE);
  EXPECT_EQ(query<ABT_bool>(ABT_INFO_QUERY_KIND_ENABLED_EXTERNAL_THREAD), ABT_TRUE);
}

TEST(ABT_info_query_config, answers_numbers_in_their_own_types) {
  const runtime rt;
  EXPECT_GE(query<unsigned>(ABT_INFO_QUERY_KIND_MAX_NUM_XSTREAMS), 1U);
  EXPECT_GE(query<std::size_t>(ABT_INFO_QUERY_KIND_DEFAULT_THREAD_STACKSIZE), 512U);
  EXPECT_GE(query<std::size_t>(ABT_INFO_QUERY_KIND_DEFAULT_SCHED_STACKSIZE), 512U);
  EXPECT_GE(query<std::uint64_t>(ABT_INFO_QUERY_KIND_DEFAULT_SCHED_EVENT_FREQ), 1U);
  query<std::uint64_t>(ABT_INFO_QUERY_KIND_DEFAULT_SCHED_SLEEP_NSEC);
  const int check = query<int>(ABT_INFO_QUERY_KIND_ENABLED_STACK_OVERFLOW_CHECK);
  EXPECT_TRUE(check >= 0 && check <= 3) << check;
  const int policy = query<int>(ABT_INFO_QUERY_KIND_WAIT_POLICY);
  EXPECT_TRUE(policy == 0 || policy == 1) << policy;
}

TEST(ABT_info_query_config, answers_in_every_context) {
  const runtime rt;
  const body ask = [] { EXPECT_GE(query<unsigned>(ABT_INFO_QUERY_KIND_MAX_NUM_XSTREAMS), 1U); };
  in_thread(ask);
  in_tasklet(ask);
  in_kernel_thread(ask);
}

TEST(ABT_info_query_config, refuses_unknown_kinds_and_no_runtime) {
  std::uint64_t value = 0;
  EXPECT_ABT(ABT_ERR_UNINITIALIZED, ABT_info_query_config(ABT_INFO_QUERY_KIND_ENABLED_TOOL, &value));
  {
    const runtime rt;
    EXPECT_ABT(ABT_ERR_INV_QUERY_KIND, ABT_info_query_config(static_cast<ABT_info_query_kind>(31), &value));
  }
  EXPECT_ABT(ABT_ERR_UNINITIALIZED, ABT_info_query_config(ABT_INFO_QUERY_KIND_ENABLED_TOOL, &value));
}

TEST(ABT_info_print_config, writes_something) {
  const runtime rt;
  EXPECT_FALSE(printed([](FILE* f) { EXPECT_OK(ABT_info_print_config(f)); }).empty());
}

TEST(ABT_info_print_config, refuses_without_a_runtime) {
  EXPECT_ABT(ABT_ERR_UNINITIALIZED, ABT_info_print_config(stdout));
  {
    const runtime rt;
  }
  EXPECT_ABT(ABT_ERR_UNINITIALIZED, ABT_info_print_config(stdout));
}

TEST(ABT_info_print_all_xstreams, writes_more_when_there_are_more) {
  const runtime rt;
  const auto print = [](FILE* f) { EXPECT_OK(ABT_info_print_all_xstreams(f)); };
  const std::string one = printed(print);
  EXPECT_FALSE(one.empty());
  const streams es(3);
  EXPECT_GT(printed(print).size(), one.size());
}

TEST(ABT_info_print_all_xstreams, refuses_without_a_runtime) {
  EXPECT_ABT(ABT_ERR_UNINITIALIZED, ABT_info_print_all_xstreams(stdout));
  {
    const runtime rt;
  }
  EXPECT_ABT(ABT_ERR_UNINITIALIZED, ABT_info_print_all_xstreams(stdout));
}

TEST(ABT_info_print_xstream, writes_something) {
  const runtime rt;
  const streams es(1);
  const auto print = [&es](FILE* f) { EXPECT_OK(ABT_info_print_xstream(f, es[0])); };
  EXPECT_FALSE(printed(print).empty());
  EXPECT_OK(ABT_xstream_join(es[0]));
  EXPECT_FALSE(printed(print).empty());
}

TEST(ABT_info_print_xstream, refuses_no_stream) {
  const runtime rt;
  EXPECT_ABT(ABT_ERR_INV_XSTREAM, ABT_info_print_xstream(stdout, ABT_XSTREAM_NULL));
  EXPECT_ABT(ABT_ERR_INV_XSTREAM, ABT_info_print_xstream(stdout, nullptr));
}

TEST(ABT_info_print_sched, writes_something_about_each_kind) {
  const runtime rt;
  for (const ABT_sched_predef predef : every_predef) {
    ABT_sched sched = ABT_SCHED_NULL;
    ASSERT_OK(ABT_sched_create_basic(predef, 0, nullptr, ABT_SCHED_CONFIG_NULL, &sched));
    EXPECT_FALSE(printed([sched](FILE* f) { EXPECT_OK(ABT_info_print_sched(f, sched)); }).empty());
    EXPECT_OK(ABT_sched_free(&sched));
  }
  ABT_sched mine = make_user_sched({self_pool()});
  EXPECT_FALSE(printed([mine](FILE* f) { EXPECT_OK(ABT_info_print_sched(f, mine)); }).empty());
  EXPECT_OK(ABT_sched_free(&mine));
}

TEST(ABT_info_print_sched, refuses_no_scheduler) {
  const runtime rt;
  EXPECT_ABT(ABT_ERR_INV_SCHED, ABT_info_print_sched(stdout, ABT_SCHED_NULL));
  EXPECT_ABT(ABT_ERR_INV_SCHED, ABT_info_print_sched(stdout, nullptr));
}

TEST(ABT_info_print_pool, writes_something_about_each_kind) {
  const runtime rt;
  user_fifo fifo;
  for (ABT_pool pool : {make_pool(ABT_FALSE, ABT_POOL_FIFO), make_pool(ABT_FALSE, ABT_POOL_FIFO_WAIT),
                        make_pool(ABT_FALSE, ABT_POOL_RANDWS), make_user_pool(fifo, callbacks::required),
                        make_old_pool(fifo, callbacks::all)}) {
    EXPECT_FALSE(printed([pool](FILE* f) { EXPECT_OK(ABT_info_print_pool(f, pool)); }).empty());
    EXPECT_OK(ABT_pool_free(&pool));
  }
}

TEST(ABT_info_print_pool, refuses_no_pool) {
  const runtime rt;
  EXPECT_ABT(ABT_ERR_INV_POOL, ABT_info_print_pool(stdout, ABT_POOL_NULL));
  EXPECT_ABT(ABT_ERR_INV_POOL, ABT_info_print_pool(stdout, nullptr));
}

// A thread that has not run, the caller, a tasklet, and one that has ended.
TEST(ABT_info_print_thread, writes_something_in_each_state) {
  const runtime rt;
  body nothing = [] {};
  ABT_thread fresh = make_thread(self_pool(), nothing);
  ABT_thread self = ABT_THREAD_NULL;
  EXPECT_OK(ABT_self_get_thread(&self));
  ABT_task task = ABT_TASK_NULL;
  ASSERT_OK(ABT_task_create(self_pool(), run_function, &nothing, &task));
  const auto check = [](ABT_thread t) {
    EXPECT_FALSE(printed([t](FILE* f) { EXPECT_OK(ABT_info_print_thread(f, t)); }).empty());
    EXPECT_FALSE(printed([t](FILE* f) { EXPECT_OK(ABT_info_print_task(f, t)); }).empty());
  };
  for (const ABT_thread t : {fresh, self, task})
    check(t);
  EXPECT_OK(ABT_thread_join(fresh));
  check(fresh);
  EXPECT_OK(ABT_thread_free(&fresh));
  EXPECT_OK(ABT_task_free(&task));
}

TEST(ABT_info_print_thread, refuses_no_thread) {
  const runtime rt;
  for (const ABT_thread none : {ABT_THREAD_NULL, ABT_TASK_NULL, ABT_thread{}})
    EXPECT_ABT(ABT_ERR_INV_THREAD, ABT_info_print_thread(stdout, none));
}

TEST(ABT_info_print_task, writes_something) {
  const runtime rt;
  ABT_thread self = ABT_THREAD_NULL;
  EXPECT_OK(ABT_self_get_thread(&self));
  EXPECT_FALSE(printed([self](FILE* f) { EXPECT_OK(ABT_info_print_task(f, self)); }).empty());
}

TEST(ABT_info_print_task, refuses_no_task) {
  const runtime rt;
  for (const ABT_task none : {ABT_THREAD_NULL, ABT_TASK_NULL, ABT_task{}})
    EXPECT_ABT(ABT_ERR_INV_TASK, ABT_info_print_task(stdout, none));
}

TEST(ABT_info_print_thread_attr, writes_something) {
  const runtime rt;
  ABT_thread_attr attr = ABT_THREAD_ATTR_NULL;
  ASSERT_OK(ABT_thread_attr_create(&attr));
  EXPECT_FALSE(printed([attr](FILE* f) { EXPECT_OK(ABT_info_print_thread_attr(f, attr)); }).empty());
  EXPECT_OK(ABT_thread_attr_free(&attr));
}

TEST(ABT_info_print_thread_attr, refuses_no_attribute) {
  const runtime rt;
  EXPECT_ABT(ABT_ERR_INV_THREAD_ATTR, ABT_info_print_thread_attr(stdout, ABT_THREAD_ATTR_NULL));
  EXPECT_ABT(ABT_ERR_INV_THREAD_ATTR, ABT_info_print_thread_attr(stdout, nullptr));
}

// A thread that has run and waits in a pool that nobody serves.
class yielded_thread {
 public:
  yielded_thread() : pool_(make_pool()), handle_(make_thread(pool_, f_)) { step(); }
  ~yielded_thread() {
    step();
    EXPECT_OK(ABT_thread_free(&handle_));
    EXPECT_OK(ABT_pool_free(&pool_));
  }
  yielded_thread(const yielded_thread&) = delete;
  yielded_thread& operator=(const yielded_thread&) = delete;
  ABT_pool pool() const { return pool_; }
  ABT_thread handle() const { return handle_; }

 private:
  void step() {
    ABT_thread next = ABT_THREAD_NULL;
    EXPECT_OK(ABT_pool_pop_thread(pool_, &next));
    EXPECT_OK(ABT_self_schedule(next, ABT_POOL_NULL));
  }
  body f_ = [] { EXPECT_OK(ABT_thread_yield()); };
  ABT_pool pool_;
  ABT_thread handle_;
};

TEST(ABT_info_print_thread_stack, dumps_a_thread_that_waits) {
  const runtime rt;
  const yielded_thread t;
  const std::string raw = printed([&t](FILE* f) { EXPECT_OK(ABT_info_print_thread_stack(f, t.handle())); });
  EXPECT_GT(raw.size(), 100U); // the raw words at the least
}

TEST(ABT_info_print_thread_stack, dumps_less_when_told_so) {
  const auto dump_with = [](const char* raw) {
    const environment env{{"ABT_PRINT_RAW_STACK", raw}};
    const runtime rt;
    const yielded_thread t;
    return printed([&t](FILE* f) { EXPECT_OK(ABT_info_print_thread_stack(f, t.handle())); }).size();
  };
  EXPECT_LT(dump_with("0"), dump_with("1"));
}

TEST(ABT_info_print_thread_stack, accepts_threads_without_a_stack) {
  const runtime rt;
  body nothing = [] {};
  ABT_task task = ABT_TASK_NULL;
  ASSERT_OK(ABT_task_create(self_pool(), run_function, &nothing, &task));
  EXPECT_OK(ABT_task_join(task));
  EXPECT_FALSE(printed([task](FILE* f) { EXPECT_OK(ABT_info_print_thread_stack(f, task)); }).empty());
  EXPECT_OK(ABT_task_free(&task));
}

TEST(ABT_info_print_thread_stack, refuses_no_thread) {
  const runtime rt;
  for (const ABT_thread none : {ABT_THREAD_NULL, ABT_TASK_NULL, ABT_thread{}})
    EXPECT_ABT(ABT_ERR_INV_THREAD, ABT_info_print_thread_stack(stdout, none));
}

TEST(ABT_info_print_thread_stacks_in_pool, dumps_each_thread) {
  const runtime rt;
  const yielded_thread t;
  const auto print = [&t](FILE* f) { EXPECT_OK(ABT_info_print_thread_stacks_in_pool(f, t.pool())); };
  const std::string one = printed(print);
  EXPECT_GT(one.size(), 100U);
  user_fifo fifo;
  ABT_pool mine = make_user_pool(fifo, callbacks::all);
  EXPECT_FALSE(
      printed([mine](FILE* f) { EXPECT_OK(ABT_info_print_thread_stacks_in_pool(f, mine)); }).empty());
  EXPECT_OK(ABT_pool_free(&mine));
}

TEST(ABT_info_print_thread_stacks_in_pool, refuses_no_pool_and_pools_that_cannot) {
  const runtime rt;
  user_fifo fifo;
  ABT_pool mine = make_user_pool(fifo, callbacks::required);
  EXPECT_ABT(ABT_ERR_INV_POOL, ABT_info_print_thread_stacks_in_pool(stdout, ABT_POOL_NULL));
  EXPECT_ABT(ABT_ERR_INV_POOL, ABT_info_print_thread_stacks_in_pool(stdout, nullptr));
  EXPECT_ABT(ABT_ERR_POOL, ABT_info_print_thread_stacks_in_pool(stdout, mine));
  EXPECT_OK(ABT_pool_free(&mine));
}

// How often the callback came, and with what.
struct dump_report {
  std::atomic<int> calls = 0;
  std::atomic<int> timed_out = -1;
};
void report_dump(ABT_bool timed_out, void* arg) {
  auto* const report = static_cast<dump_report*>(arg);
  report->timed_out = timed_out;
  ++report->calls;
}

FILE* dump_file;
dump_report* signal_report;
void trigger_in_signal(int) {
  ABT_info_trigger_print_all_thread_stacks(dump_file, -1.0, report_dump, signal_report);
}

TEST(ABT_info_trigger_print_all_thread_stacks, may_be_called_in_a_signal_handler) {
  const runtime rt;
  const streams es(2);
  dump_report report;
  signal_report = &report;
  std::atomic<bool> stop = false;
  body f = [&stop] {
    while (!stop)
      EXPECT_OK(ABT_thread_yield());
  };
  ABT_thread t = make_thread(es.pool(0), f);
  const auto old = std::signal(SIGUSR1, trigger_in_signal);
  const std::string text = printed([&report](FILE* file) {
    dump_file = file;
    std::raise(SIGUSR1);
    yield_until([&report] { return report.calls == 1; });
  });
  EXPECT_EQ(report.timed_out, ABT_FALSE);
  EXPECT_FALSE(text.empty());
  std::signal(SIGUSR1, old);
  stop = true;
  EXPECT_OK(ABT_thread_free(&t));
}

TEST(ABT_info_trigger_print_all_thread_stacks, goes_on_without_streams_that_do_not_come) {
  const runtime rt;
  const streams es(1);
  dump_report report;
  std::atomic<bool> busy = false;
  std::atomic<bool> stop = false;
  body f = [&] {
    busy = true;
    while (!stop)
      sched_yield(); // of the kernel: the stream sees no event
  };
  ABT_thread t = make_thread(es.pool(0), f);
  yield_until([&busy] { return busy.load(); });
  const std::string text = printed([&report](FILE* file) {
    EXPECT_OK(ABT_info_trigger_print_all_thread_stacks(file, 0.01, report_dump, &report));
    yield_until([&report] { return report.calls == 1; });
  });
  EXPECT_EQ(report.timed_out, ABT_TRUE);
  EXPECT_FALSE(text.empty());
  stop = true;
  EXPECT_OK(ABT_thread_free(&t));
}

TEST(ABT_info_trigger_print_all_thread_stacks, needs_no_callback) {
  const runtime rt;
  dump_report report;
  printed([&report](FILE* file) {
    EXPECT_OK(ABT_info_trigger_print_all_thread_stacks(file, -1.0, nullptr, nullptr));
    for (int i = 0; i < 1000; ++i)
      EXPECT_OK(ABT_thread_yield());
    EXPECT_OK(ABT_info_trigger_print_all_thread_stacks(file, -1.0, report_dump, &report));
    yield_until([&report] { return report.calls == 1; });
  });
}

} // namespace
