// SPDX-License-Identifier: MIT
// What Weft adds to mutexes and rwlocks: waits with a limit, and rwlocks that only try.
#include "abtx.h"
#include "sync.hpp"

using namespace abt_test;

namespace {

ABT_mutex new_mutex(bool recursive = false) {
  ABT_mutex m = ABT_MUTEX_NULL;
  ABT_mutex_attr attr = ABT_MUTEX_ATTR_NULL;
  EXPECT_OK(ABT_mutex_attr_create(&attr));
  EXPECT_OK(ABT_mutex_attr_set_recursive(attr, recursive ? ABT_TRUE : ABT_FALSE));
  EXPECT_OK(ABT_mutex_create_with_attr(attr, &m));
  EXPECT_OK(ABT_mutex_attr_free(&attr));
  return m;
}

TEST(ABTX_mutex_timedlock, waits_for_owner) {
  const runtime rt;
  ABT_mutex m = new_mutex();
  const timespec at = far();
  int got = 0;
  EXPECT_OK(ABT_mutex_lock(m));
  {
    crowd c;
    const body lock = [&] {
      EXPECT_OK(ABTX_mutex_timedlock(m, &at));
      ++got;
      EXPECT_OK(ABT_mutex_unlock(m));
    };
    c.ults(2, lock);
    c.kernel_threads(1, lock);
    until_blocked(c.ult(0));
    until_blocked(c.ult(1));
    EXPECT_EQ(got, 0);
    EXPECT_OK(ABT_mutex_unlock(m));
  }
  EXPECT_EQ(got, 3);
  EXPECT_OK(ABT_mutex_free(&m));
}

TEST(ABTX_mutex_timedlock, takes_what_is_free_whatever_the_time) {
  const runtime rt;
  ABT_mutex m = new_mutex();
  const body f = [&] {
    EXPECT_OK(ABTX_mutex_timedlock(m, &long_ago));
    EXPECT_ABT(ABT_ERR_MUTEX_LOCKED, ABT_mutex_trylock(m));
    EXPECT_OK(ABT_mutex_unlock(m));
  };
  f();
  in_thread(f);
  in_tasklet(f);
  in_kernel_thread(f);
  EXPECT_OK(ABT_mutex_free(&m));
}

TEST(ABTX_mutex_timedlock, counts_recursion) {
  const runtime rt;
  ABT_mutex m = new_mutex(true);
  for (int i = 0; i < 3; ++i)
    EXPECT_OK(ABTX_mutex_timedlock(m, &long_ago));
  for (int i = 0; i < 3; ++i) {
    in_thread([&] { EXPECT_ABT(ABT_ERR_COND_TIMEDOUT, ABTX_mutex_timedlock(m, &long_ago)); });
    EXPECT_OK(ABT_mutex_unlock(m));
  }
  in_thread([&] {
    EXPECT_OK(ABTX_mutex_timedlock(m, &long_ago));
    EXPECT_OK(ABT_mutex_unlock(m));
  });
  EXPECT_OK(ABT_mutex_free(&m));
}

TEST(ABTX_mutex_timedlock, refuses_to_wait_longer) {
  const runtime rt;
  ABT_mutex m = new_mutex();
  EXPECT_OK(ABT_mutex_lock(m));
  const timed lock = [&](const timespec* at) { return ABTX_mutex_timedlock(m, at); };
  expect_gives_up(lock);
  in_tasklet([&] { // it stops its stream meanwhile
    const timespec at = after(0.01);
    EXPECT_ABT(ABT_ERR_COND_TIMEDOUT, lock(&at));
    EXPECT_TRUE(reached(at));
  });
  EXPECT_OK(ABT_mutex_unlock(m));
  EXPECT_OK(ABT_mutex_trylock(m)); // it was not handed to one that has gone
  EXPECT_OK(ABT_mutex_unlock(m));
  EXPECT_OK(ABT_mutex_free(&m));
}

// Locks that give up next to locks that do not: nobody is forgotten, nobody let in twice.
TEST(ABTX_mutex_timedlock, gives_up_among_others) {
  constexpr int rounds = 100;
  const runtime rt;
  const streams es(2);
  ABT_mutex m = new_mutex();
  long count = 0;
  std::atomic<long> taken = 0;
  {
    crowd c;
    const body work = [&] {
      for (int i = 0; i < rounds; ++i) {
        const timespec at = i % 4 == 0 ? long_ago : after(i % 4 * 1e-5);
        const int code = i % 5 == 0 ? ABT_mutex_lock(m) : ABTX_mutex_timedlock(m, &at);
        if (code == ABT_ERR_COND_TIMEDOUT && i % 5 != 0) {
          EXPECT_TRUE(reached(at));
          continue;
        }
        EXPECT_OK(code);
        ++taken;
        const long before = count;
        ABT_thread_yield();
        count = before + 1;
        EXPECT_OK(ABT_mutex_unlock(m));
      }
    };
    c.ults(2, work);
    c.ults(2, work, es.pool(0));
    c.ults(2, work, es.pool(1));
    c.kernel_threads(2, work);
  }
  EXPECT_EQ(count, taken);
  EXPECT_GE(count, 8 * rounds / 5);
  EXPECT_OK(ABT_mutex_free(&m));
}

TEST(ABTX_mutex_timedlock, refuses_null_handle) {
  const runtime rt;
  for (const ABT_mutex null : nulls(ABT_MUTEX_NULL))
    EXPECT_ABT(ABT_ERR_INV_MUTEX, ABTX_mutex_timedlock(null, &long_ago));
}

TEST(ABTX_mutex_timedlock, refuses_no_time) {
  const runtime rt;
  ABT_mutex m = new_mutex();
  EXPECT_OK(ABT_mutex_lock(m));
  expect_refuses_no_time([&](const timespec* at) { return ABTX_mutex_timedlock(m, at); });
  EXPECT_OK(ABT_mutex_unlock(m));
  EXPECT_OK(ABT_mutex_free(&m));
}

class rwlock {
 public:
  rwlock() { EXPECT_OK(ABT_rwlock_create(&handle_)); }
  ~rwlock() { EXPECT_OK(ABT_rwlock_free(&handle_)); }
  rwlock(const rwlock&) = delete;
  rwlock& operator=(const rwlock&) = delete;
  operator ABT_rwlock() const { return handle_; }
  void unlock() const { EXPECT_OK(ABT_rwlock_unlock(handle_)); }
  // Whether another ULT may read now, or write.
  void expect_allows(bool read, bool write) const {
    in_thread([=, this] {
      EXPECT_ABT(read ? ABT_SUCCESS : ABT_ERR_RWLOCK, ABTX_rwlock_tryrdlock(handle_));
      if (read) {
        unlock();
      }
      EXPECT_ABT(write ? ABT_SUCCESS : ABT_ERR_RWLOCK, ABTX_rwlock_trywrlock(handle_));
      if (write) {
        unlock();
      }
    });
  }

 private:
  ABT_rwlock handle_ = ABT_RWLOCK_NULL;
};

using timed_lock = int (*)(ABT_rwlock, const timespec*);
using lock = int (*)(ABT_rwlock);

void expect_waits(timed_lock wanted, lock held) {
  const runtime rt;
  const rwlock l;
  const timespec at = far();
  std::atomic<int> got = 0;
  EXPECT_OK(held(l));
  crowd c;
  const body f = [&] {
    EXPECT_OK(wanted(l, &at));
    ++got;
    l.unlock();
  };
  c.ults(2, f);
  c.kernel_threads(1, f);
  until_blocked(c.ult(0));
  until_blocked(c.ult(1));
  EXPECT_EQ(got, 0);
  l.unlock();
  c.join();
  EXPECT_EQ(got, 3);
  l.expect_allows(true, true);
}

void expect_refuses_to_wait_longer(timed_lock wanted, lock held) {
  const runtime rt;
  const rwlock l;
  EXPECT_OK(held(l));
  expect_gives_up([&](const timespec* at) { return wanted(l, at); });
  l.unlock();
  l.expect_allows(true, true); // those who gave up are gone
}

void expect_takes_when_free(timed_lock wanted, bool shared) {
  const runtime rt;
  const rwlock l;
  const body f = [&] {
    EXPECT_OK(wanted(l, &long_ago));
    EXPECT_ABT(shared ? ABT_SUCCESS : ABT_ERR_RWLOCK, ABTX_rwlock_tryrdlock(l));
    EXPECT_ABT(ABT_ERR_RWLOCK, ABTX_rwlock_trywrlock(l));
    if (shared) {
      l.unlock();
    }
    l.unlock();
    l.expect_allows(true, true);
  };
  f();
  in_thread(f);
}

void expect_refuses_null(timed_lock wanted) {
  const runtime rt;
  for (const ABT_rwlock null : nulls(ABT_RWLOCK_NULL))
    EXPECT_ABT(ABT_ERR_INV_RWLOCK, wanted(null, &long_ago));
}

void expect_refuses_tasklet(timed_lock wanted) {
  const runtime rt;
  const rwlock l;
  in_tasklet([&] { EXPECT_ABT(ABT_ERR_RWLOCK, wanted(l, &long_ago)); });
  l.expect_allows(true, true);
}

void expect_refuses_no_time_for(timed_lock wanted) {
  const runtime rt;
  const rwlock l;
  EXPECT_OK(ABT_rwlock_wrlock(l));
  expect_refuses_no_time([&](const timespec* at) { return wanted(l, at); });
  l.unlock();
}

TEST(ABTX_rwlock_timedrdlock, waits_for_a_writer) {
  expect_waits(ABTX_rwlock_timedrdlock, ABT_rwlock_wrlock);
}
TEST(ABTX_rwlock_timedrdlock, takes_what_is_free_whatever_the_time) {
  expect_takes_when_free(ABTX_rwlock_timedrdlock, true);
}
TEST(ABTX_rwlock_timedrdlock, refuses_to_wait_longer) {
  expect_refuses_to_wait_longer(ABTX_rwlock_timedrdlock, ABT_rwlock_wrlock);
}
TEST(ABTX_rwlock_timedrdlock, refuses_null_handle) {
  expect_refuses_null(ABTX_rwlock_timedrdlock);
}
TEST(ABTX_rwlock_timedrdlock, refuses_tasklet) {
  expect_refuses_tasklet(ABTX_rwlock_timedrdlock);
}
TEST(ABTX_rwlock_timedrdlock, refuses_no_time) {
  expect_refuses_no_time_for(ABTX_rwlock_timedrdlock);
}

TEST(ABTX_rwlock_timedwrlock, waits_for_a_reader) {
  expect_waits(ABTX_rwlock_timedwrlock, ABT_rwlock_rdlock);
}
TEST(ABTX_rwlock_timedwrlock, waits_for_a_writer) {
  expect_waits(ABTX_rwlock_timedwrlock, ABT_rwlock_wrlock);
}
TEST(ABTX_rwlock_timedwrlock, takes_what_is_free_whatever_the_time) {
  expect_takes_when_free(ABTX_rwlock_timedwrlock, false);
}
TEST(ABTX_rwlock_timedwrlock, refuses_to_wait_longer) {
  expect_refuses_to_wait_longer(ABTX_rwlock_timedwrlock, ABT_rwlock_rdlock);
  expect_refuses_to_wait_longer(ABTX_rwlock_timedwrlock, ABT_rwlock_wrlock);
}
TEST(ABTX_rwlock_timedwrlock, refuses_null_handle) {
  expect_refuses_null(ABTX_rwlock_timedwrlock);
}
TEST(ABTX_rwlock_timedwrlock, refuses_tasklet) {
  expect_refuses_tasklet(ABTX_rwlock_timedwrlock);
}
TEST(ABTX_rwlock_timedwrlock, refuses_no_time) {
  expect_refuses_no_time_for(ABTX_rwlock_timedwrlock);
}

// Readers that have queued behind a writer go in when it gives up: the lock is still only read.
TEST(ABTX_rwlock_timedwrlock, does_not_hold_readers_up_once_it_gave_up) {
  const runtime rt;
  const rwlock l;
  EXPECT_OK(ABT_rwlock_rdlock(l));
  bool gave_up = false;
  int read = 0;
  crowd c;
  c.ults(1, [&] {
    const timespec at = after(0.05);
    EXPECT_ABT(ABT_ERR_COND_TIMEDOUT, ABTX_rwlock_timedwrlock(l, &at));
    gave_up = true;
  });
  yield_until([&] { return gave_up || blocked(c.ult(0)); });
  const body f = [&] {
    EXPECT_OK(ABT_rwlock_rdlock(l));
    ++read;
    l.unlock();
  };
  c.ults(2, f);
  c.join(); // while we read
  EXPECT_TRUE(gave_up);
  EXPECT_EQ(read, 2);
  l.expect_allows(true, false);
  l.unlock();
}

TEST(ABTX_rwlock_tryrdlock, reads_with_readers) {
  const runtime rt;
  const rwlock l;
  const body f = [&] { EXPECT_OK(ABTX_rwlock_tryrdlock(l)); };
  f();
  in_thread(f);
  in_tasklet(f); // it does not wait, so that a tasklet may
  in_kernel_thread(f);
  for (int i = 0; i < 4; ++i) {
    l.expect_allows(true, false);
    l.unlock();
  }
  l.expect_allows(true, true);
}

TEST(ABTX_rwlock_tryrdlock, refuses_what_is_written) {
  const runtime rt;
  const rwlock l;
  EXPECT_OK(ABT_rwlock_wrlock(l));
  const body f = [&] { EXPECT_ABT(ABT_ERR_RWLOCK, ABTX_rwlock_tryrdlock(l)); };
  f();
  in_thread(f);
  in_tasklet(f);
  in_kernel_thread(f);
  l.unlock();
  l.expect_allows(true, true);
}

TEST(ABTX_rwlock_tryrdlock, refuses_null_handle) {
  const runtime rt;
  for (const ABT_rwlock null : nulls(ABT_RWLOCK_NULL))
    EXPECT_ABT(ABT_ERR_INV_RWLOCK, ABTX_rwlock_tryrdlock(null));
}

TEST(ABTX_rwlock_trywrlock, writes_alone) {
  const runtime rt;
  const rwlock l;
  for (auto* in : {+[](body f) { in_thread(std::move(f)); }, +[](body f) { in_tasklet(std::move(f)); },
                   +[](body f) { in_kernel_thread(std::move(f)); }}) {
    in([&] { EXPECT_OK(ABTX_rwlock_trywrlock(l)); });
    l.expect_allows(false, false);
    l.unlock();
    l.expect_allows(true, true);
  }
}

TEST(ABTX_rwlock_trywrlock, refuses_what_is_taken) {
  const runtime rt;
  const rwlock l;
  for (const lock held : {ABT_rwlock_rdlock, ABT_rwlock_wrlock}) {
    EXPECT_OK(held(l));
    const body f = [&] { EXPECT_ABT(ABT_ERR_RWLOCK, ABTX_rwlock_trywrlock(l)); };
    f();
    in_thread(f);
    in_tasklet(f);
    in_kernel_thread(f);
    l.unlock();
    l.expect_allows(true, true);
  }
}

TEST(ABTX_rwlock_trywrlock, refuses_null_handle) {
  const runtime rt;
  for (const ABT_rwlock null : nulls(ABT_RWLOCK_NULL))
    EXPECT_ABT(ABT_ERR_INV_RWLOCK, ABTX_rwlock_trywrlock(null));
}

} // namespace
