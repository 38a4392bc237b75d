// SPDX-License-Identifier: MIT
// Timers, of which only this is certain: a stop is not before its start, and not after the next look at the
// clock. None of this needs a runtime.
#include "sync.hpp"

using namespace abt_test;

namespace {

class timer {
 public:
  timer() { EXPECT_OK(ABT_timer_create(&handle_)); }
  ~timer() { EXPECT_OK(ABT_timer_free(&handle_)); }
  timer(const timer&) = delete;
  timer& operator=(const timer&) = delete;
  operator ABT_timer() const { return handle_; }

 private:
  ABT_timer handle_ = ABT_TIMER_NULL;
};

double read(ABT_timer t) {
  double seconds = -1;
  EXPECT_OK(ABT_timer_read(t, &seconds));
  return seconds;
}

// Until the clock has moved on, so that a timer that measures nothing is seen.
void let_time_pass() {
  const double start = ABT_get_wtime();
  while (ABT_get_wtime() < start + 1e-3) {
  }
}

// What is measured between `before` and now lies between `least` and that. Doubles: a bit of room.
void expect_measured(double seconds, double least, double before) {
  EXPECT_GE(seconds, least - 1e-6);
  EXPECT_LE(seconds, ABT_get_wtime() - before + 1e-6);
}

TEST(ABT_get_wtime, goes_on_everywhere) {
  double last = 0;
  const body look = [&] {
    const double t = ABT_get_wtime();
    EXPECT_GE(t, last);
    EXPECT_GT(t, 0);
    last = t;
    let_time_pass();
    EXPECT_GT(ABT_get_wtime(), t);
  };
  look();
  {
    const runtime rt;
    const streams es(1);
    look();
    in_thread(look);
    in_thread(look, es.pool(0));
    in_tasklet(look);
    in_kernel_thread(look);
  }
  look();
}

TEST(ABT_timer_create, makes_a_handle) {
  ABT_timer t = ABT_TIMER_NULL;
  ASSERT_OK(ABT_timer_create(&t));
  EXPECT_NE(t, ABT_TIMER_NULL);
  EXPECT_OK(ABT_timer_free(&t));
}

TEST(ABT_timer_dup, copies_the_times) {
  const timer t;
  EXPECT_OK(ABT_timer_start(t));
  let_time_pass();
  EXPECT_OK(ABT_timer_stop(t));
  ABT_timer copy = ABT_TIMER_NULL;
  ASSERT_OK(ABT_timer_dup(t, &copy));
  EXPECT_NE(copy, t);
  EXPECT_EQ(read(copy), read(t));
  const double before = read(t);
  EXPECT_OK(ABT_timer_start(copy)); // from now on they are two
  EXPECT_OK(ABT_timer_stop(copy));
  EXPECT_EQ(read(t), before);
  EXPECT_OK(ABT_timer_free(&copy));
}

TEST(ABT_timer_dup, refuses_null_handle) {
  const timer something;
  for (const ABT_timer null : nulls(ABT_TIMER_NULL)) {
    ABT_timer copy = something;
    EXPECT_ABT(ABT_ERR_INV_TIMER, ABT_timer_dup(null, &copy));
    EXPECT_EQ(copy, ABT_TIMER_NULL);
  }
}

TEST(ABT_timer_free, takes_the_handle_away) {
  ABT_timer t = ABT_TIMER_NULL;
  ASSERT_OK(ABT_timer_create(&t));
  EXPECT_OK(ABT_timer_start(t)); // running or not
  EXPECT_OK(ABT_timer_free(&t));
  EXPECT_EQ(t, ABT_TIMER_NULL);
}

TEST(ABT_timer_free, refuses_null_handle) {
  for (ABT_timer null : nulls(ABT_TIMER_NULL))
    EXPECT_ABT(ABT_ERR_INV_TIMER, ABT_timer_free(&null));
}

TEST(ABT_timer_start, starts_again) {
  const timer t;
  EXPECT_OK(ABT_timer_start(t));
  let_time_pass();
  const double before = ABT_get_wtime();
  EXPECT_OK(ABT_timer_start(t)); // what was before is forgotten
  EXPECT_OK(ABT_timer_stop(t));
  expect_measured(read(t), 0, before);
}

TEST(ABT_timer_start, refuses_null_handle) {
  for (const ABT_timer null : nulls(ABT_TIMER_NULL))
    EXPECT_ABT(ABT_ERR_INV_TIMER, ABT_timer_start(null));
}

TEST(ABT_timer_stop, may_come_again_later) {
  const timer t;
  const double before = ABT_get_wtime();
  EXPECT_OK(ABT_timer_start(t));
  for (int i = 1; i <= 3; ++i) {
    let_time_pass();
    EXPECT_OK(ABT_timer_stop(t));
    expect_measured(read(t), i * 1e-3, before);
  }
}

TEST(ABT_timer_stop, refuses_null_handle) {
  for (const ABT_timer null : nulls(ABT_TIMER_NULL))
    EXPECT_ABT(ABT_ERR_INV_TIMER, ABT_timer_stop(null));
}

TEST(ABT_timer_read, tells_start_to_stop) {
  const timer t;
  const double before = ABT_get_wtime();
  EXPECT_OK(ABT_timer_start(t));
  let_time_pass();
  EXPECT_OK(ABT_timer_stop(t));
  const double first = read(t);
  expect_measured(first, 1e-3, before);
  let_time_pass();
  EXPECT_EQ(read(t), first); // not the time of the reading
}

TEST(ABT_timer_read, refuses_null_handle) {
  double seconds = 0;
  for (const ABT_timer null : nulls(ABT_TIMER_NULL))
    EXPECT_ABT(ABT_ERR_INV_TIMER, ABT_timer_read(null, &seconds));
}

TEST(ABT_timer_stop_and_read, does_both) {
  const runtime rt;
  const timer t;
  const body measure = [&] {
    const double before = ABT_get_wtime();
    EXPECT_OK(ABT_timer_start(t));
    let_time_pass();
    double seconds = -1;
    EXPECT_OK(ABT_timer_stop_and_read(t, &seconds));
    expect_measured(seconds, 1e-3, before);
    EXPECT_EQ(read(t), seconds);
  };
  measure();
  in_thread(measure);
  in_tasklet(measure);
  in_kernel_thread(measure);
}

TEST(ABT_timer_stop_and_read, refuses_null_handle) {
  double seconds = 0;
  for (const ABT_timer null : nulls(ABT_TIMER_NULL))
    EXPECT_ABT(ABT_ERR_INV_TIMER, ABT_timer_stop_and_read(null, &seconds));
}

TEST(ABT_timer_stop_and_add, adds) {
  const timer t;
  double total = 100;
  double expected = 100;
  for (int i = 0; i < 3; ++i) {
    EXPECT_OK(ABT_timer_start(t));
    let_time_pass();
    EXPECT_OK(ABT_timer_stop_and_add(t, &total));
    EXPECT_GE(read(t), 1e-3 - 1e-6);
    expected += read(t);
    EXPECT_NEAR(total, expected, 1e-6);
  }
}

TEST(ABT_timer_stop_and_add, refuses_null_handle) {
  double total = 100;
  for (const ABT_timer null : nulls(ABT_TIMER_NULL))
    EXPECT_ABT(ABT_ERR_INV_TIMER, ABT_timer_stop_and_add(null, &total));
  EXPECT_EQ(total, 100);
}

TEST(ABT_timer_get_overhead, is_not_negative) {
  double overhead = -1;
  EXPECT_OK(ABT_timer_get_overhead(&overhead));
  EXPECT_GE(overhead, 0);
  EXPECT_LT(overhead, 1); // it is a measure of nothing
}

} // namespace
