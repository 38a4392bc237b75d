// SPDX-License-Identifier: MIT
// Barriers of ULTs and kernel threads, and the ones that stop whole streams.
#include "sync.hpp"

using namespace abt_test;

namespace {

// A barrier for so many, freed at the end of the scope.
class barrier {
 public:
  explicit barrier(uint32_t waiters) { EXPECT_OK(ABT_barrier_create(waiters, &handle_)); }
  ~barrier() { EXPECT_OK(ABT_barrier_free(&handle_)); }
  barrier(const barrier&) = delete;
  barrier& operator=(const barrier&) = delete;
  operator ABT_barrier() const { return handle_; }

  void wait() const { EXPECT_OK(ABT_barrier_wait(handle_)); }
  uint32_t waiters() const {
    uint32_t n = 0;
    EXPECT_OK(ABT_barrier_get_num_waiters(handle_, &n));
    return n;
  }
  // So many ULTs meet, and not one fewer.
  void expect_meets(std::size_t count) const {
    crowd c;
    c.ults(static_cast<int>(count) - 1, [this] { wait(); });
    for (std::size_t i = 0; i + 1 < count; ++i)
      until_blocked(c.ult(i));
    wait();
  }

 private:
  ABT_barrier handle_ = ABT_BARRIER_NULL;
};

TEST(ABT_barrier_create, makes_one_for_so_many) {
  const runtime rt;
  for (const uint32_t n : {1U, 2U, 1000U})
    EXPECT_EQ(barrier(n).waiters(), n);
}

TEST(ABT_barrier_create, refuses_nobody) {
  const runtime rt;
  const barrier something(1);
  ABT_barrier b = something;
  EXPECT_ABT(ABT_ERR_INV_ARG, ABT_barrier_create(0, &b));
  EXPECT_EQ(b, ABT_BARRIER_NULL);
}

TEST(ABT_barrier_reinit, sets_another_number) {
  const runtime rt;
  const barrier b(3);
  b.expect_meets(3);
  for (const uint32_t n : {5U, 1U, 2U, 2U}) {
    EXPECT_OK(ABT_barrier_reinit(b, n));
    EXPECT_EQ(b.waiters(), n);
    b.expect_meets(n);
    b.expect_meets(n);
  }
}

TEST(ABT_barrier_reinit, refuses_null_handle) {
  const runtime rt;
  for (const ABT_barrier null : nulls(ABT_BARRIER_NULL))
    EXPECT_ABT(ABT_ERR_INV_BARRIER, ABT_barrier_reinit(null, 2));
}

TEST(ABT_barrier_reinit, refuses_nobody) {
  const runtime rt;
  const barrier b(2);
  EXPECT_ABT(ABT_ERR_INV_ARG, ABT_barrier_reinit(b, 0));
  EXPECT_EQ(b.waiters(), 2U);
  b.expect_meets(2);
}

TEST(ABT_barrier_free, takes_the_handle_away) {
  const runtime rt;
  ABT_barrier b = ABT_BARRIER_NULL;
  ASSERT_OK(ABT_barrier_create(2, &b));
  EXPECT_OK(ABT_barrier_free(&b));
  EXPECT_EQ(b, ABT_BARRIER_NULL);
}

TEST(ABT_barrier_free, refuses_null_handle) {
  const runtime rt;
  for (ABT_barrier null : nulls(ABT_BARRIER_NULL))
    EXPECT_ABT(ABT_ERR_INV_BARRIER, ABT_barrier_free(&null));
}

TEST(ABT_barrier_wait, waits_for_the_last) {
  const runtime rt;
  const barrier b(4);
  int passed = 0;
  crowd c;
  c.ults(3, [&] {
    b.wait();
    ++passed;
  });
  for (std::size_t i = 0; i < 3; ++i)
    until_blocked(c.ult(i));
  EXPECT_EQ(passed, 0);
  b.wait();
  c.join();
  EXPECT_EQ(passed, 3);
}

TEST(ABT_barrier_wait, stops_nobody_when_made_for_one) {
  const runtime rt;
  const barrier b(1);
  for (int i = 0; i < 3; ++i)
    b.wait();
  in_thread([&] { b.wait(); });
  in_kernel_thread([&] { b.wait(); });
}

// Round after round without a pause: nobody is a round ahead, whatever runs him.
TEST(ABT_barrier_wait, keeps_step) {
  constexpr int rounds = 100;
  constexpr int each = 6;
  const runtime rt;
  const streams es(2);
  const barrier b(each);
  std::atomic<int> arrived = 0;
  crowd c;
  const body walk = [&] {
    for (int i = 0; i < rounds; ++i) {
      ++arrived;
      b.wait();
      EXPECT_GE(arrived, (i + 1) * each);
      EXPECT_LT(arrived, (i + 2) * each); // I have not yet come again
    }
  };
  c.ults(2, walk);
  c.ults(1, walk, es.pool(0));
  c.ults(1, walk, es.pool(1));
  c.kernel_threads(2, walk);
  c.join();
  EXPECT_EQ(arrived, rounds * each);
}

TEST(ABT_barrier_wait, refuses_null_handle) {
  const runtime rt;
  for (const ABT_barrier null : nulls(ABT_BARRIER_NULL)) {
    EXPECT_ABT(ABT_ERR_INV_BARRIER, ABT_barrier_wait(null));
    in_kernel_thread([=] { EXPECT_ABT(ABT_ERR_INV_BARRIER, ABT_barrier_wait(null)); });
  }
}

TEST(ABT_barrier_wait, refuses_tasklet) {
  const runtime rt;
  for (const uint32_t n : {1U, 2U}) { // the last, who would not have to wait, too
    const barrier b(n);
    in_tasklet([&] { EXPECT_ABT(ABT_ERR_BARRIER, ABT_barrier_wait(b)); });
    b.expect_meets(n); // it was not counted
  }
}

TEST(ABT_barrier_get_num_waiters, is_not_changed_by_waiting) {
  const runtime rt;
  const barrier b(3);
  crowd c;
  c.ults(2, [&] { b.wait(); });
  until_blocked(c.ult(0));
  until_blocked(c.ult(1));
  const body look = [&] { EXPECT_EQ(b.waiters(), 3U); };
  look();
  in_tasklet(look);
  in_kernel_thread(look);
  b.wait();
  c.join();
  look();
}

TEST(ABT_barrier_get_num_waiters, refuses_null_handle) {
  const runtime rt;
  uint32_t n = 0;
  for (const ABT_barrier null : nulls(ABT_BARRIER_NULL))
    EXPECT_ABT(ABT_ERR_INV_BARRIER, ABT_barrier_get_num_waiters(null, &n));
}

TEST(ABT_xstream_barrier_create, makes_a_handle) {
  const runtime rt;
  ABT_xstream_barrier b = ABT_XSTREAM_BARRIER_NULL;
  ASSERT_OK(ABT_xstream_barrier_create(1, &b));
  EXPECT_NE(b, ABT_XSTREAM_BARRIER_NULL);
  EXPECT_OK(ABT_xstream_barrier_wait(b)); // alone, it is the last
  EXPECT_OK(ABT_xstream_barrier_free(&b));
}

TEST(ABT_xstream_barrier_create, refuses_nobody) {
  const runtime rt;
  int something = 0;
  auto b = reinterpret_cast<ABT_xstream_barrier>(&something);
  EXPECT_ABT(ABT_ERR_INV_ARG, ABT_xstream_barrier_create(0, &b));
  EXPECT_EQ(b, ABT_XSTREAM_BARRIER_NULL);
}

TEST(ABT_xstream_barrier_free, takes_the_handle_away) {
  const runtime rt;
  ABT_xstream_barrier b = ABT_XSTREAM_BARRIER_NULL;
  ASSERT_OK(ABT_xstream_barrier_create(2, &b));
  EXPECT_OK(ABT_xstream_barrier_free(&b));
  EXPECT_EQ(b, ABT_XSTREAM_BARRIER_NULL);
}

TEST(ABT_xstream_barrier_free, refuses_null_handle) {
  const runtime rt;
  for (ABT_xstream_barrier null : nulls(ABT_XSTREAM_BARRIER_NULL))
    EXPECT_ABT(ABT_ERR_INV_XSTREAM_BARRIER, ABT_xstream_barrier_free(&null));
}

// ULTs of two streams, a tasklet of a third and a kernel thread keep step.
TEST(ABT_xstream_barrier_wait, keeps_step) {
  constexpr int rounds = 50;
  const runtime rt;
  const streams es(2);
  ABT_xstream_barrier b = ABT_XSTREAM_BARRIER_NULL;
  ASSERT_OK(ABT_xstream_barrier_create(4, &b));
  std::atomic<int> arrived = 0;
  body walk = [&] {
    for (int i = 0; i < rounds; ++i) {
      ++arrived;
      EXPECT_OK(ABT_xstream_barrier_wait(b));
      EXPECT_GE(arrived, (i + 1) * 4);
      EXPECT_LT(arrived, (i + 2) * 4);
    }
  };
  ABT_task t = ABT_TASK_NULL;
  ASSERT_OK(ABT_task_create(es.pool(1), run_function, &walk, &t));
  {
    crowd c;
    c.ults(1, walk, es.pool(0));
    c.kernel_threads(1, walk);
    walk();
  }
  EXPECT_OK(ABT_task_free(&t));
  EXPECT_EQ(arrived, rounds * 4);
  EXPECT_OK(ABT_xstream_barrier_free(&b));
}

// The stream stands still as a whole: what else is in its pool does not run.
TEST(ABT_xstream_barrier_wait, stops_the_stream) {
  const runtime rt;
  const streams es(1);
  ABT_xstream_barrier b = ABT_XSTREAM_BARRIER_NULL;
  ASSERT_OK(ABT_xstream_barrier_create(2, &b));
  std::atomic<bool> entered = false;
  std::atomic<bool> passed = false;
  {
    crowd c;
    c.ults(
        1,
        [&] {
          entered = true;
          EXPECT_OK(ABT_xstream_barrier_wait(b));
          passed = true;
        },
        es.pool(0));
    yield_until([&] { return entered.load(); });
    c.ults(1, [&] { EXPECT_TRUE(passed); }, es.pool(0));
    yield_often();
    EXPECT_FALSE(passed);
    EXPECT_OK(ABT_xstream_barrier_wait(b));
  }
  EXPECT_TRUE(passed);
  EXPECT_OK(ABT_xstream_barrier_free(&b));
}

TEST(ABT_xstream_barrier_wait, refuses_null_handle) {
  const runtime rt;
  for (const ABT_xstream_barrier null : nulls(ABT_XSTREAM_BARRIER_NULL))
    EXPECT_ABT(ABT_ERR_INV_XSTREAM_BARRIER, ABT_xstream_barrier_wait(null));
}

} // namespace
