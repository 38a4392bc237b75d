// SPDX-License-Identifier: MIT
// Streams, their joins and waits of each kind of caller when each, or each second, call that a signal could
// end does end with EINTR (tests/fault/interrupted_test.cpp).
#include <thread>
#include <vector>

#include "sync.hpp"
#include "tests/fault/interrupting.hpp"
#include "units.hpp"

namespace {

using namespace abt_test;
using weft::fault_test::interrupting;

class ABT_fault_interrupted : public ::testing::TestWithParam<int> {};

INSTANTIATE_TEST_SUITE_P(each, ABT_fault_interrupted, ::testing::Values(1, 2, 3),
                         [](const auto& info) { return "call_" + std::to_string(info.param); });

TEST_P(ABT_fault_interrupted, streams_start_run_and_are_joined) {
  const interrupting signals(static_cast<std::uint64_t>(GetParam()));
  const runtime use;
  std::atomic<int> ran = 0;
  for (int round = 0; round < 5; ++round) {
    ABT_xstream streams[3];
    for (ABT_xstream& es : streams) {
      ASSERT_OK(ABT_xstream_create(ABT_SCHED_NULL, &es));
    }
    ::usleep(1000); // so that they sleep
    for (ABT_xstream& es : streams) {
      ABT_pool pool = ABT_POOL_NULL;
      ASSERT_OK(ABT_xstream_get_main_pools(es, 1, &pool));
      ABT_thread ult = ABT_THREAD_NULL;
      ASSERT_OK(ABT_thread_create(pool, count, &ran, ABT_THREAD_ATTR_NULL, &ult));
      ASSERT_OK(ABT_task_create(pool, count, &ran, nullptr));
      EXPECT_OK(ABT_thread_free(&ult));
    }
    for (ABT_xstream& es : streams) {
      EXPECT_OK(ABT_xstream_join(es));
      EXPECT_OK(ABT_xstream_revive(es));
      EXPECT_OK(ABT_xstream_free(&es));
    }
  }
  EXPECT_EQ(ran, 30);
}

// A ULT, a tasklet, which may not suspend, and a kernel thread of somebody else's.
TEST_P(ABT_fault_interrupted, waits_end_when_they_should) {
  const interrupting signals(static_cast<std::uint64_t>(GetParam()));
  const runtime use;
  ABT_xstream other = ABT_XSTREAM_NULL;
  ASSERT_OK(ABT_xstream_create(ABT_SCHED_NULL, &other));
  ABT_pool pool = ABT_POOL_NULL;
  ASSERT_OK(ABT_xstream_get_main_pools(other, 1, &pool));
  ABT_mutex held = ABT_MUTEX_NULL;
  ABT_mutex lock = ABT_MUTEX_NULL;
  ABT_cond never = ABT_COND_NULL;
  ABT_eventual told = ABT_EVENTUAL_NULL;
  ABT_eventual over = ABT_EVENTUAL_NULL;
  ASSERT_OK(ABT_mutex_create(&held));
  ASSERT_OK(ABT_mutex_create(&lock));
  ASSERT_OK(ABT_cond_create(&never));
  ASSERT_OK(ABT_eventual_create(0, &told));
  ASSERT_OK(ABT_eventual_create(0, &over));
  std::atomic<int> inside = 0;
  const auto time_out = [&] {
    const timespec at = after(0.002);
    EXPECT_OK(ABT_mutex_lock(lock));
    EXPECT_ABT(ABT_ERR_COND_TIMEDOUT, ABT_cond_timedwait(never, lock, &at));
    EXPECT_OK(ABT_mutex_unlock(lock));
    EXPECT_TRUE(reached(at));
  };
  const auto wait = [&] {
    EXPECT_OK(ABT_eventual_wait(told, nullptr));
    EXPECT_OK(ABT_mutex_lock(held));
    EXPECT_EQ(++inside, 1);
    --inside;
    EXPECT_OK(ABT_mutex_unlock(held));
  };
  ASSERT_OK(ABT_mutex_lock(held));
  body in_ult = [&] {
    time_out();
    wait();
  };
  body in_task = [&] {
    EXPECT_OK(ABT_mutex_lock(held));
    EXPECT_EQ(++inside, 1);
    --inside;
    EXPECT_OK(ABT_mutex_unlock(held));
  };
  ABT_thread ult = new_thread(pool, in_ult);
  std::thread outside([&] {
    time_out();
    wait();
    EXPECT_OK(ABT_thread_join(ult));
    EXPECT_OK(ABT_eventual_set(over, nullptr, 0));
  });
  time_out();
  EXPECT_OK(ABT_eventual_set(told, nullptr, 0));
  time_out();
  EXPECT_OK(ABT_mutex_unlock(held));
  EXPECT_OK(ABT_eventual_wait(over, nullptr));
  outside.join();
  EXPECT_OK(ABT_thread_free(&ult));
  ASSERT_OK(ABT_mutex_lock(held));
  ABT_task task = new_task(pool, in_task);
  time_out();
  EXPECT_OK(ABT_mutex_unlock(held));
  EXPECT_OK(ABT_task_free(&task));
  EXPECT_OK(ABT_xstream_free(&other));
  EXPECT_OK(ABT_eventual_free(&over));
  EXPECT_OK(ABT_eventual_free(&told));
  EXPECT_OK(ABT_cond_free(&never));
  EXPECT_OK(ABT_mutex_free(&lock));
  EXPECT_OK(ABT_mutex_free(&held));
}

TEST_P(ABT_fault_interrupted, a_pool_is_waited_for) {
  const interrupting signals(static_cast<std::uint64_t>(GetParam()));
  const runtime use;
  ABT_pool pool = ABT_POOL_NULL;
  ASSERT_OK(ABT_pool_create_basic(ABT_POOL_FIFO_WAIT, ABT_POOL_ACCESS_MPMC, ABT_FALSE, &pool));
  ABT_thread got = ABT_THREAD_NULL;
  for (int round = 0; round < 5; ++round) {
    const double begin = ABT_get_wtime();
    EXPECT_OK(ABT_pool_pop_wait_thread(pool, &got, 0.002));
    EXPECT_GE(ABT_get_wtime() - begin, 0.002);
    EXPECT_EQ(got, ABT_THREAD_NULL);
  }
  body nothing_much = [] {};
  ABT_thread unit = ABT_THREAD_NULL;
  std::thread other([&] {
    ::usleep(2000);
    unit = new_thread(pool, nothing_much);
  });
  EXPECT_OK(ABT_pool_pop_wait_thread(pool, &got, 30));
  other.join();
  EXPECT_EQ(got, unit);
  EXPECT_OK(ABT_pool_push_thread(self_pool(), got));
  EXPECT_OK(ABT_thread_free(&unit));
  EXPECT_OK(ABT_pool_free(&pool));
}

} // namespace
