// SPDX-License-Identifier: MIT
#include "sync.hpp"

using namespace abt_test;

namespace {

using operation = int (*)(ABT_rwlock);

class rwlock {
 public:
  rwlock() { EXPECT_OK(ABT_rwlock_create(&handle_)); }
  ~rwlock() { EXPECT_OK(ABT_rwlock_free(&handle_)); }
  rwlock(const rwlock&) = delete;
  rwlock& operator=(const rwlock&) = delete;
  operator ABT_rwlock() const { return handle_; }

 private:
  ABT_rwlock handle_ = ABT_RWLOCK_NULL;
};

// A ULT that locks as told waits until the caller, who has locked as told, unlocks.
void expect_waits(operation held, operation wanted) {
  const runtime rt;
  const rwlock l;
  bool got = false;
  EXPECT_OK(held(l));
  crowd c;
  c.ults(1, [&] {
    EXPECT_OK(wanted(l));
    got = true;
    EXPECT_OK(ABT_rwlock_unlock(l));
  });
  until_blocked(c.ult(0));
  EXPECT_FALSE(got);
  EXPECT_OK(ABT_rwlock_unlock(l));
  c.join();
  EXPECT_TRUE(got);
}

// The same, seen from a kernel thread that waits.
void expect_kernel_thread_waits(operation held, operation wanted) {
  const runtime rt;
  const rwlock l;
  std::atomic<bool> entered = false;
  std::atomic<bool> got = false;
  EXPECT_OK(held(l));
  crowd c;
  c.kernel_threads(1, [&] {
    entered = true;
    EXPECT_OK(wanted(l));
    got = true;
    EXPECT_OK(ABT_rwlock_unlock(l));
  });
  yield_until([&] { return entered.load(); });
  yield_often();
  EXPECT_FALSE(got);
  EXPECT_OK(ABT_rwlock_unlock(l));
  c.join();
  EXPECT_TRUE(got);
}

void expect_refuses_null(operation f) {
  const runtime rt;
  for (const ABT_rwlock null : nulls(ABT_RWLOCK_NULL)) {
    EXPECT_ABT(ABT_ERR_INV_RWLOCK, f(null));
    in_kernel_thread([=] { EXPECT_ABT(ABT_ERR_INV_RWLOCK, f(null)); });
  }
}

// Also when the lock is free: a tasklet may never lock it, and has not when it was told so.
void expect_refuses_tasklet(operation f) {
  const runtime rt;
  const rwlock l;
  in_tasklet([&] { EXPECT_ABT(ABT_ERR_RWLOCK, f(l)); });
  in_thread([&] {
    EXPECT_OK(ABT_rwlock_wrlock(l));
    EXPECT_OK(ABT_rwlock_unlock(l));
  });
}

TEST(ABT_rwlock_create, makes_a_free_lock) {
  const runtime rt;
  ABT_rwlock l = ABT_RWLOCK_NULL;
  ASSERT_OK(ABT_rwlock_create(&l));
  EXPECT_NE(l, ABT_RWLOCK_NULL);
  EXPECT_OK(ABT_rwlock_wrlock(l));
  EXPECT_OK(ABT_rwlock_unlock(l));
  EXPECT_OK(ABT_rwlock_free(&l));
}

TEST(ABT_rwlock_free, takes_the_handle_away) {
  const runtime rt;
  ABT_rwlock l = ABT_RWLOCK_NULL;
  ASSERT_OK(ABT_rwlock_create(&l));
  EXPECT_OK(ABT_rwlock_free(&l));
  EXPECT_EQ(l, ABT_RWLOCK_NULL);
}

TEST(ABT_rwlock_free, frees_a_locked_lock) {
  const runtime rt;
  for (const operation lock : {ABT_rwlock_rdlock, ABT_rwlock_wrlock}) {
    ABT_rwlock l = ABT_RWLOCK_NULL;
    ASSERT_OK(ABT_rwlock_create(&l));
    EXPECT_OK(lock(l));
    EXPECT_OK(ABT_rwlock_free(&l));
    EXPECT_EQ(l, ABT_RWLOCK_NULL);
  }
}

TEST(ABT_rwlock_free, refuses_null_handle) {
  const runtime rt;
  for (ABT_rwlock null : nulls(ABT_RWLOCK_NULL))
    EXPECT_ABT(ABT_ERR_INV_RWLOCK, ABT_rwlock_free(&null));
}

TEST(ABT_rwlock_rdlock, is_shared) {
  const runtime rt;
  const streams es(1);
  const rwlock l;
  std::atomic<int> inside = 0;
  crowd c;
  const body read = [&] {
    EXPECT_OK(ABT_rwlock_rdlock(l));
    ++inside;
    while (inside != 6) // all at once, or never
      ABT_thread_yield();
    EXPECT_OK(ABT_rwlock_unlock(l));
  };
  c.ults(2, read);
  c.ults(2, read, es.pool(0));
  c.kernel_threads(2, read);
}

TEST(ABT_rwlock_rdlock, waits_for_a_writer) {
  expect_waits(ABT_rwlock_wrlock, ABT_rwlock_rdlock);
}
TEST(ABT_rwlock_rdlock, makes_a_kernel_thread_wait) {
  expect_kernel_thread_waits(ABT_rwlock_wrlock, ABT_rwlock_rdlock);
}
TEST(ABT_rwlock_rdlock, refuses_null_handle) {
  expect_refuses_null(ABT_rwlock_rdlock);
}
TEST(ABT_rwlock_rdlock, refuses_tasklet) {
  expect_refuses_tasklet(ABT_rwlock_rdlock);
}

TEST(ABT_rwlock_wrlock, waits_for_a_reader) {
  expect_waits(ABT_rwlock_rdlock, ABT_rwlock_wrlock);
}
TEST(ABT_rwlock_wrlock, waits_for_a_writer) {
  expect_waits(ABT_rwlock_wrlock, ABT_rwlock_wrlock);
}
TEST(ABT_rwlock_wrlock, makes_a_kernel_thread_wait) {
  expect_kernel_thread_waits(ABT_rwlock_rdlock, ABT_rwlock_wrlock);
  expect_kernel_thread_waits(ABT_rwlock_wrlock, ABT_rwlock_wrlock);
}
TEST(ABT_rwlock_wrlock, refuses_null_handle) {
  expect_refuses_null(ABT_rwlock_wrlock);
}
TEST(ABT_rwlock_wrlock, refuses_tasklet) {
  expect_refuses_tasklet(ABT_rwlock_wrlock);
}

// Readers never see half of what a writer does, writers never another writer.
TEST(ABT_rwlock_wrlock, excludes) {
  constexpr int rounds = 50;
  const runtime rt;
  const streams es(2);
  const rwlock l;
  long first = 0;
  long second = 0;
  crowd c;
  const body write = [&] {
    for (int i = 0; i < rounds; ++i) {
      EXPECT_OK(ABT_rwlock_wrlock(l));
      const long before = first;
      first = before + 1;
      ABT_thread_yield();
      second = before + 1;
      EXPECT_OK(ABT_rwlock_unlock(l));
    }
  };
  const body read = [&] {
    for (int i = 0; i < rounds; ++i) {
      EXPECT_OK(ABT_rwlock_rdlock(l));
      const long seen = first;
      ABT_thread_yield();
      EXPECT_EQ(seen, second);
      EXPECT_OK(ABT_rwlock_unlock(l));
    }
  };
  for (const body& f : {write, read}) {
    c.ults(1, f);
    c.ults(1, f, es.pool(0));
    c.ults(1, f, es.pool(1));
    c.kernel_threads(1, f);
  }
  c.join();
  EXPECT_EQ(first, 4 * rounds);
}

// A writer waits for the last reader, not for the first that leaves.
TEST(ABT_rwlock_unlock, counts_readers) {
  const runtime rt;
  const rwlock l;
  bool got = false;
  const body lock = [&] { EXPECT_OK(ABT_rwlock_rdlock(l)); };
  lock();
  in_thread(lock); // a lock has no owner: it may end elsewhere than it began
  in_kernel_thread(lock);
  crowd c;
  c.ults(1, [&] {
    EXPECT_OK(ABT_rwlock_wrlock(l));
    got = true;
    EXPECT_OK(ABT_rwlock_unlock(l));
  });
  until_blocked(c.ult(0));
  for (int i = 0; i < 3; ++i) {
    yield_often();
    EXPECT_FALSE(got);
    EXPECT_OK(ABT_rwlock_unlock(l));
  }
  c.join();
  EXPECT_TRUE(got);
}

TEST(ABT_rwlock_unlock, lets_all_readers_in) {
  const runtime rt;
  const rwlock l;
  int inside = 0;
  EXPECT_OK(ABT_rwlock_wrlock(l));
  crowd c;
  c.ults(10, [&] {
    EXPECT_OK(ABT_rwlock_rdlock(l));
    ++inside;
    while (inside != 10)
      ABT_thread_yield();
    EXPECT_OK(ABT_rwlock_unlock(l));
  });
  for (std::size_t i = 0; i < 10; ++i)
    until_blocked(c.ult(i));
  EXPECT_EQ(inside, 0);
  EXPECT_OK(ABT_rwlock_unlock(l));
  c.join();
  EXPECT_EQ(inside, 10);
}

TEST(ABT_rwlock_unlock, refuses_null_handle) {
  expect_refuses_null(ABT_rwlock_unlock);
}

} // namespace
