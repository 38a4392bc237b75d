// SPDX-License-Identifier: MIT
// What this library promises of streams, schedulers and pools beyond what Argobots does.
#include <chrono>
#include <thread>

#include <sys/resource.h>

#include "abt_test.hpp"
#include "tests/unit/kernel_thread_count.hpp"
#include "user_defs.hpp"

namespace {

using namespace abt_test;
using namespace std::chrono_literals;

// Of all kernel threads of the process, in seconds.
double processor_time() {
  rusage usage{};
  EXPECT_EQ(getrusage(RUSAGE_SELF, &usage), 0);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

std::ptrdiff_t kernel_threads() {
  return static_cast<std::ptrdiff_t>(weft::test::weft_kernel_threads());
}

// Waits for kernel threads that are on their way out.
bool falls_to(std::ptrdiff_t count) {
  for (int i = 0; i < 6000 && kernel_threads() > count; ++i)
    std::this_thread::sleep_for(10ms);
  return kernel_threads() == count;
}

// The processor time that streams burn while their loops have nothing to do; main sleeps in the kernel. Other
// processes may keep a stream that spins from its processor, so the bound is a tenth of the time.
double burnt_in_300_ms() {
  std::this_thread::sleep_for(50ms); // they may look around first
  const double before = processor_time();
  std::this_thread::sleep_for(300ms);
  return processor_time() - before;
}

TEST(better_than_upstream, idle_streams_burn_no_processor_time) {
  const runtime rt;
  for (const ABT_sched_predef predef : every_predef) {
    SCOPED_TRACE(predef);
    ABT_xstream es[2];
    for (ABT_xstream& one : es)
      ASSERT_OK(ABT_xstream_create_basic(predef, 0, nullptr, ABT_SCHED_CONFIG_NULL, &one));
    EXPECT_EQ(run_many(first_pool(es[0]), 5), 10);
    EXPECT_LT(burnt_in_300_ms(), 0.03);
    EXPECT_EQ(run_many(first_pool(es[0]), 5), 10);
    for (ABT_xstream& one : es)
      EXPECT_OK(ABT_xstream_free(&one));
  }
}

TEST(better_than_upstream, idle_streams_of_users_pools_burn_no_processor_time) {
  const runtime rt;
  user_fifo fifo;
  ABT_pool pool = make_user_pool(fifo, callbacks::required);
  ABT_xstream es = ABT_XSTREAM_NULL;
  ASSERT_OK(ABT_xstream_create_basic(ABT_SCHED_BASIC, 1, &pool, ABT_SCHED_CONFIG_NULL, &es));
  EXPECT_EQ(run_many(pool, 5), 10);
  EXPECT_LT(burnt_in_300_ms(), 0.03);
  EXPECT_EQ(run_many(pool, 5), 10);
  EXPECT_OK(ABT_xstream_free(&es));
  EXPECT_OK(ABT_pool_free(&pool));
}

// Upstream looks at the others of its pools ten times a second. The bound is for the sum of many.
TEST(better_than_upstream, basic_wait_is_woken_by_each_of_its_pools) {
  const runtime rt;
  for (const ABT_pool_kind kind : {ABT_POOL_FIFO, ABT_POOL_FIFO_WAIT, ABT_POOL_RANDWS}) {
    SCOPED_TRACE(kind);
    ABT_pool pools[] = {make_pool(ABT_TRUE, kind), make_pool(ABT_TRUE, kind), make_pool(ABT_TRUE, kind)};
    ABT_xstream es = ABT_XSTREAM_NULL;
    ASSERT_OK(ABT_xstream_create_basic(ABT_SCHED_BASIC_WAIT, 3, pools, ABT_SCHED_CONFIG_NULL, &es));
    for (int i = 0; i < 100; ++i) {
      for (const ABT_pool pool : pools)
        in_thread([] {}, pool);
    }
    EXPECT_OK(ABT_xstream_free(&es));
  }
}

TEST(better_than_upstream, basic_wait_serves_pools_that_cannot_wait) {
  const runtime rt;
  user_fifo fifo;
  ABT_pool pool = make_user_pool(fifo, callbacks::required);
  ABT_xstream es = ABT_XSTREAM_NULL;
  ASSERT_OK(ABT_xstream_create_basic(ABT_SCHED_BASIC_WAIT, 1, &pool, ABT_SCHED_CONFIG_NULL, &es));
  EXPECT_EQ(run_many(pool, 20), 40);
  EXPECT_OK(ABT_xstream_free(&es));
  EXPECT_OK(ABT_pool_free(&pool));
}

// Upstream needs 66 ms for each on average, as it looks from time to time; here nobody would wake the stream
// if the join did not.
TEST(better_than_upstream, idle_streams_are_joined) {
  const runtime rt;
  for (int i = 0; i < 100; ++i) {
    ABT_xstream es = ABT_XSTREAM_NULL;
    ASSERT_OK(ABT_xstream_create_basic(ABT_SCHED_BASIC_WAIT, 0, nullptr, ABT_SCHED_CONFIG_NULL, &es));
    in_thread([] {}, first_pool(es));
    EXPECT_OK(ABT_xstream_free(&es));
  }
}

TEST(better_than_upstream, freed_handles_are_recognized) {
  const runtime rt;
  ABT_xstream es = make_stream();
  ABT_xstream old_es = es;
  EXPECT_OK(ABT_xstream_free(&es));
  int rank = 0;
  EXPECT_ABT(ABT_ERR_INV_XSTREAM, ABT_xstream_get_rank(old_es, &rank));
  EXPECT_ABT(ABT_ERR_INV_XSTREAM, ABT_xstream_join(old_es));
  EXPECT_ABT(ABT_ERR_INV_XSTREAM, ABT_xstream_free(&old_es));

  ABT_pool pool = make_pool();
  ABT_sched sched = make_user_sched({pool});
  ABT_sched old_sched = sched;
  EXPECT_OK(ABT_sched_free(&sched));
  int count = 0;
  EXPECT_ABT(ABT_ERR_INV_SCHED, ABT_sched_get_num_pools(old_sched, &count));
  EXPECT_ABT(ABT_ERR_INV_SCHED, ABT_sched_free(&old_sched));

  ABT_pool old_pool = pool;
  EXPECT_OK(ABT_pool_free(&pool));
  std::size_t size = 0;
  EXPECT_ABT(ABT_ERR_INV_POOL, ABT_pool_get_size(old_pool, &size));
  EXPECT_ABT(ABT_ERR_INV_POOL, ABT_pool_free(&old_pool));

  ABT_pool_config pool_config = ABT_POOL_CONFIG_NULL;
  ASSERT_OK(ABT_pool_config_create(&pool_config));
  ABT_pool_config old_pool_config = pool_config;
  EXPECT_OK(ABT_pool_config_free(&pool_config));
  EXPECT_ABT(ABT_ERR_INV_POOL_CONFIG, ABT_pool_config_free(&old_pool_config));

  ABT_sched_config sched_config = ABT_SCHED_CONFIG_NULL;
  ASSERT_OK(ABT_sched_config_create(&sched_config, ABT_sched_config_var_end));
  ABT_sched_config old_sched_config = sched_config;
  EXPECT_OK(ABT_sched_config_free(&sched_config));
  EXPECT_ABT(ABT_ERR_INV_SCHED_CONFIG, ABT_sched_config_free(&old_sched_config));

  ABT_pool_user_def def = make_user_def(callbacks::required);
  ABT_pool_user_def old_def = def;
  EXPECT_OK(ABT_pool_user_def_free(&def));
  EXPECT_ABT(ABT_ERR_INV_POOL_USER_DEF, ABT_pool_user_def_free(&old_def));
}

TEST(better_than_upstream, finalize_leaves_no_kernel_thread) {
  const std::ptrdiff_t before = kernel_threads();
  {
    const runtime rt;
    for (int i = 0; i < 3; ++i)
      EXPECT_EQ(run_many(first_pool(make_stream()), 2), 4); // and nobody frees them
    EXPECT_GT(kernel_threads(), before);
  }
  EXPECT_TRUE(falls_to(before)) << kernel_threads();
}

TEST(better_than_upstream, joined_streams_that_are_not_freed_leave_no_kernel_thread) {
  const std::ptrdiff_t before = kernel_threads();
  {
    const runtime rt;
    EXPECT_OK(ABT_xstream_join(make_stream()));
  }
  EXPECT_TRUE(falls_to(before)) << kernel_threads();
}

TEST(better_than_upstream, every_kind_of_query_is_answered) {
  const runtime rt;
  for (int kind = 0; kind <= ABT_INFO_QUERY_KIND_ENABLED_LAZY_STACK_ALLOC; ++kind) {
    std::uint64_t value[2] = {};
    EXPECT_OK(ABT_info_query_config(static_cast<ABT_info_query_kind>(kind), value)) << kind;
  }
  for (const ABT_info_query_kind kind :
       {ABT_INFO_QUERY_KIND_ENABLED_AFFINITY, ABT_INFO_QUERY_KIND_ENABLED_TOOL}) {
    ABT_bool enabled = ABT_FALSE;
    EXPECT_OK(ABT_info_query_config(kind, &enabled));
    EXPECT_EQ(enabled, ABT_TRUE) << kind;
  }
}

TEST(better_than_upstream, streams_can_be_bound) {
  const runtime rt;
  const streams es(1);
  int cpu = -1;
  in_thread([&cpu] { cpu = sched_getcpu(); }, es.pool(0));
  EXPECT_OK(ABT_xstream_set_cpubind(es[0], cpu));
  int bound = -1;
  EXPECT_OK(ABT_xstream_get_cpubind(es[0], &bound));
  EXPECT_EQ(bound, cpu);
  int cpus[4] = {-1, -1, -1, -1};
  int count = 0;
  EXPECT_OK(ABT_xstream_set_affinity(es[0], 1, &cpu));
  EXPECT_OK(ABT_xstream_get_affinity(es[0], 4, cpus, &count));
  EXPECT_EQ(count, 1);
  EXPECT_EQ(cpus[0], cpu);
}

// Harnesses bind the primary stream to sixteen processors, whatever the machine has.
TEST(better_than_upstream, processors_beyond_the_machine_are_accepted) {
  const runtime rt;
  const streams es(1);
  std::vector<int> cpus(64);
  for (int i = 0; i < 64; ++i)
    cpus[static_cast<std::size_t>(i)] = i;
  EXPECT_OK(ABT_xstream_set_affinity(es[0], 64, cpus.data()));
  EXPECT_OK(ABT_xstream_set_affinity(self_xstream(), 16, cpus.data()));
  EXPECT_EQ(run_many(es.pool(0), 5), 10);
  int beyond = CPU_SETSIZE + 5;
  EXPECT_OK(ABT_xstream_set_affinity(es[0], 1, &beyond));
  EXPECT_EQ(run_many(es.pool(0), 5), 10);
  EXPECT_OK(ABT_xstream_set_affinity(self_xstream(), 0, nullptr));
}

// A call that was refused has no effect; upstream counts it.
TEST(better_than_upstream, a_refused_finalize_changes_nothing) {
  const runtime rt;
  in_thread([] { EXPECT_ABT(ABT_ERR_INV_THREAD, ABT_finalize()); });
  in_kernel_thread([] { EXPECT_ABT(ABT_ERR_INV_XSTREAM, ABT_finalize()); });
  EXPECT_OK(ABT_initialized());
}

} // namespace
