// SPDX-License-Identifier: MIT
// What Weft adds to futures and barriers, waits with a limit, and sleep.
#include <chrono>
#include <cmath>
#include <limits>

#include "abtx.h"
#include "sync.hpp"

using namespace abt_test;

namespace {

TEST(ABTX_future_timedwait, waits_until_it_is_ready) {
  const runtime rt;
  ABT_future f = ABT_FUTURE_NULL;
  ASSERT_OK(ABT_future_create(2, nullptr, &f));
  const timespec at = far();
  std::atomic<int> got = 0;
  const body wait = [&] {
    EXPECT_OK(ABTX_future_timedwait(f, &at));
    ++got;
  };
  {
    crowd c;
    c.ults(2, wait);
    c.kernel_threads(1, wait);
    for (int i = 0; i < 2; ++i) {
      until_blocked(c.ult(0));
      until_blocked(c.ult(1));
      EXPECT_EQ(got, 0);
      EXPECT_OK(ABT_future_set(f, nullptr));
    }
  }
  EXPECT_EQ(got, 3);
  const body late = [&] { EXPECT_OK(ABTX_future_timedwait(f, &long_ago)); }; // ready whatever the time
  late();
  in_kernel_thread(late);
  EXPECT_OK(ABT_future_free(&f));
}

TEST(ABTX_future_timedwait, refuses_to_wait_longer) {
  const runtime rt;
  ABT_future f = ABT_FUTURE_NULL;
  ASSERT_OK(ABT_future_create(1, nullptr, &f));
  expect_gives_up([&](const timespec* at) { return ABTX_future_timedwait(f, at); });
  EXPECT_OK(ABT_future_set(f, nullptr));
  EXPECT_OK(ABT_future_free(&f));
}

TEST(ABTX_future_timedwait, refuses_null_handle) {
  const runtime rt;
  for (const ABT_future null : nulls(ABT_FUTURE_NULL))
    EXPECT_ABT(ABT_ERR_INV_FUTURE, ABTX_future_timedwait(null, &long_ago));
}

TEST(ABTX_future_timedwait, refuses_tasklet_and_no_time) {
  const runtime rt;
  ABT_future f = ABT_FUTURE_NULL;
  ASSERT_OK(ABT_future_create(1, nullptr, &f));
  expect_refuses_no_time([&](const timespec* at) { return ABTX_future_timedwait(f, at); });
  in_tasklet([&] { EXPECT_ABT(ABT_ERR_FUTURE, ABTX_future_timedwait(f, &long_ago)); });
  EXPECT_OK(ABT_future_set(f, nullptr));
  in_tasklet([&] { EXPECT_ABT(ABT_ERR_FUTURE, ABTX_future_timedwait(f, &long_ago)); });
  EXPECT_OK(ABT_future_free(&f));
}

class barrier {
 public:
  explicit barrier(uint32_t waiters) { EXPECT_OK(ABT_barrier_create(waiters, &handle_)); }
  ~barrier() { EXPECT_OK(ABT_barrier_free(&handle_)); }
  barrier(const barrier&) = delete;
  barrier& operator=(const barrier&) = delete;
  operator ABT_barrier() const { return handle_; }

 private:
  ABT_barrier handle_ = ABT_BARRIER_NULL;
};

TEST(ABTX_barrier_timedwait, waits_for_the_last) {
  constexpr int rounds = 50;
  const runtime rt;
  const streams es(1);
  const barrier b(4);
  const timespec at = far();
  std::atomic<int> arrived = 0;
  crowd c;
  const body walk = [&] { // mixed with ABT_barrier_wait()
    for (int i = 0; i < rounds; ++i) {
      const int count = ++arrived;
      EXPECT_OK(count % 2 == 0 ? ABT_barrier_wait(b) : ABTX_barrier_timedwait(b, &at));
      EXPECT_GE(arrived, (i + 1) * 4);
      EXPECT_LT(arrived, (i + 2) * 4);
    }
  };
  c.ults(2, walk);
  c.ults(1, walk, es.pool(0));
  c.kernel_threads(1, walk);
  c.join();
  EXPECT_EQ(arrived, rounds * 4);
}

TEST(ABTX_barrier_timedwait, lets_the_last_pass_whatever_the_time) {
  const runtime rt;
  const barrier one(1);
  EXPECT_OK(ABTX_barrier_timedwait(one, &long_ago));
  const barrier b(2);
  crowd c;
  c.ults(1, [&] { EXPECT_OK(ABT_barrier_wait(b)); });
  until_blocked(c.ult(0));
  EXPECT_OK(ABTX_barrier_timedwait(b, &long_ago));
}

// Who gives up has arrived all the same: the others need not wait for him in this round, but in the next.
TEST(ABTX_barrier_timedwait, refuses_to_wait_longer) {
  const runtime rt;
  const barrier b(4);
  for (int round = 0; round < 3; ++round) {
    const body f = [&] {
      const timespec at = after(0.01);
      EXPECT_ABT(ABT_ERR_COND_TIMEDOUT, ABTX_barrier_timedwait(b, &at));
      EXPECT_TRUE(reached(at));
    };
    in_thread(f);
    in_kernel_thread(f);
    bool passed = false;
    crowd c;
    c.ults(1, [&] {
      EXPECT_OK(ABT_barrier_wait(b));
      passed = true;
    });
    until_blocked(c.ult(0));
    EXPECT_FALSE(passed);
    EXPECT_OK(ABTX_barrier_timedwait(b, &long_ago)); // the fourth
    c.join();
    EXPECT_TRUE(passed);
  }
}

TEST(ABTX_barrier_timedwait, refuses_null_handle) {
  const runtime rt;
  for (const ABT_barrier null : nulls(ABT_BARRIER_NULL))
    EXPECT_ABT(ABT_ERR_INV_BARRIER, ABTX_barrier_timedwait(null, &long_ago));
}

// What is refused does not count as an arrival.
TEST(ABTX_barrier_timedwait, refuses_tasklet_and_no_time) {
  const runtime rt;
  const barrier b(2);
  expect_refuses_no_time([&](const timespec* at) { return ABTX_barrier_timedwait(b, at); });
  in_tasklet([&] { EXPECT_ABT(ABT_ERR_BARRIER, ABTX_barrier_timedwait(b, &long_ago)); });
  EXPECT_ABT(ABT_ERR_COND_TIMEDOUT, ABTX_barrier_timedwait(b, &long_ago));
  EXPECT_OK(ABTX_barrier_timedwait(b, &long_ago));
}

TEST(ABTX_self_sleep, sleeps_at_least_so_long) {
  const runtime rt;
  const streams es(1);
  const body f = [] {
    for (const double seconds : {1e-9, 1e-4, 0.02}) {
      const auto before = std::chrono::steady_clock::now();
      EXPECT_OK(ABTX_self_sleep(seconds));
      EXPECT_GE(std::chrono::steady_clock::now() - before, std::chrono::duration<double>(seconds));
    }
  };
  f();
  crowd c;
  c.ults(20, f);
  c.ults(20, f, es.pool(0));
  c.kernel_threads(2, f);
}

// Suspended, not busy: others run on the stream, and the sleeper is in no pool.
TEST(ABTX_self_sleep, suspends_the_ult) {
  const runtime rt;
  bool seen = false;
  crowd c;
  c.ults(1, [&] {
    while (!seen)
      EXPECT_OK(ABTX_self_sleep(0.01));
  });
  until_blocked(c.ult(0));
  seen = true;
}

TEST(ABTX_self_sleep, of_no_time_yields) {
  const runtime rt;
  bool ran = false;
  crowd c;
  c.ults(1, [&] { ran = true; });
  for (int i = 0; i < 100 && !ran; ++i)
    EXPECT_OK(ABTX_self_sleep(0));
  EXPECT_TRUE(ran);
  in_kernel_thread([] { EXPECT_OK(ABTX_self_sleep(0)); });
}

TEST(ABTX_self_sleep, refuses_less_than_no_time) {
  const runtime rt;
  const body f = [] {
    for (const double seconds : {-1.0, -1e-9, -std::numeric_limits<double>::infinity(), std::nan("")})
      EXPECT_ABT(ABT_ERR_INV_ARG, ABTX_self_sleep(seconds));
  };
  f();
  in_thread(f);
  in_kernel_thread(f);
}

TEST(ABTX_self_sleep, refuses_tasklet) {
  const runtime rt;
  in_tasklet([] {
    EXPECT_ABT(ABT_ERR_INV_THREAD, ABTX_self_sleep(0.01));
    EXPECT_ABT(ABT_ERR_INV_THREAD, ABTX_self_sleep(0));
  });
}

} // namespace
