// SPDX-License-Identifier: MIT
#include "sync.hpp"

using namespace abt_test;

namespace {

// A condition variable and its mutex.
struct pair {
  ABT_mutex m = ABT_MUTEX_NULL;
  ABT_cond c = ABT_COND_NULL;

  pair() {
    EXPECT_OK(ABT_mutex_create(&m));
    EXPECT_OK(ABT_cond_create(&c));
  }
  ~pair() {
    EXPECT_OK(ABT_cond_free(&c));
    EXPECT_OK(ABT_mutex_free(&m));
  }
  pair(const pair&) = delete;
  pair& operator=(const pair&) = delete;

  void lock() const { EXPECT_OK(ABT_mutex_lock(m)); }
  void unlock() const { EXPECT_OK(ABT_mutex_unlock(m)); }
  bool locked() const {
    const int code = ABT_mutex_trylock(m);
    if (code == ABT_SUCCESS)
      unlock();
    return code == ABT_ERR_MUTEX_LOCKED;
  }
};

// The two ways to wait: without end, and until a time that does not come.
using wait_function = int (*)(ABT_cond, ABT_mutex);
int wait_long(ABT_cond c, ABT_mutex m) {
  const timespec at = far();
  return ABT_cond_timedwait(c, m, &at);
}

// Who waits is counted under the mutex: when the count is seen there, all of them wait.
struct waiters {
  const pair& p;
  wait_function wait;
  int waiting = 0;
  int woken = 0;

  void operator()() {
    p.lock();
    ++waiting;
    EXPECT_OK(wait(p.c, p.m));
    EXPECT_TRUE(p.locked());
    ++woken;
    p.unlock();
  }
  int read(const int& count) const {
    p.lock();
    const int now = count;
    p.unlock();
    return now;
  }
  void until_waiting(int count) const {
    yield_until([&] { return read(waiting) == count; });
  }
  void until_woken(int count) const {
    yield_until([&] { return read(woken) == count; });
  }
};

void expect_wakes(wait_function wait) {
  const runtime rt;
  const streams es(1);
  const pair p;
  waiters w{p, wait};
  crowd c;
  c.ults(2, std::ref(w));
  c.ults(2, std::ref(w), es.pool(0));
  c.kernel_threads(2, std::ref(w));
  w.until_waiting(6);
  yield_often();
  EXPECT_EQ(w.read(w.woken), 0);
  for (int i = 1; i <= 6; ++i) {
    EXPECT_OK(ABT_cond_signal(p.c));
    w.until_woken(i);
  }
  c.join();
}

// A refused wait returns as it began: with the mutex held, which nobody else uses here.
void expect_refuses(int code, ABT_cond cond, wait_function wait) {
  ABT_mutex m = ABT_MUTEX_NULL;
  ASSERT_OK(ABT_mutex_create(&m));
  ASSERT_OK(ABT_mutex_lock(m));
  EXPECT_ABT(code, wait(cond, m));
  EXPECT_ABT(ABT_ERR_MUTEX_LOCKED, ABT_mutex_trylock(m));
  EXPECT_OK(ABT_mutex_unlock(m));
  EXPECT_OK(ABT_mutex_free(&m));
}

void expect_refuses_null_handle(wait_function wait) {
  const runtime rt;
  const pair p;
  for (const ABT_cond null : nulls(ABT_COND_NULL))
    expect_refuses(ABT_ERR_INV_COND, null, wait);
  for (const ABT_mutex null : nulls(ABT_MUTEX_NULL))
    EXPECT_ABT(ABT_ERR_INV_MUTEX, wait(p.c, null));
}

void expect_refuses_another_mutex(wait_function wait) {
  const runtime rt;
  const pair p;
  waiters w{p, ABT_cond_wait};
  crowd c;
  c.ults(1, std::ref(w));
  w.until_waiting(1);
  expect_refuses(ABT_ERR_INV_MUTEX, p.c, wait);
  in_kernel_thread([&] { expect_refuses(ABT_ERR_INV_MUTEX, p.c, wait); });
  EXPECT_EQ(w.read(w.woken), 0);
  EXPECT_OK(ABT_cond_signal(p.c));
  c.join();
}

void expect_refuses_tasklet(wait_function wait) {
  const runtime rt;
  const pair p;
  in_tasklet([&] { expect_refuses(ABT_ERR_COND, p.c, wait); });
  // The refused wait left nothing behind that a signal could be lost on.
  waiters w{p, ABT_cond_wait};
  crowd c;
  c.ults(1, std::ref(w));
  w.until_waiting(1);
  EXPECT_OK(ABT_cond_signal(p.c));
  c.join();
  EXPECT_EQ(w.woken, 1);
}

TEST(ABT_cond_create, makes_a_handle) {
  const runtime rt;
  ABT_cond c = ABT_COND_NULL;
  ASSERT_OK(ABT_cond_create(&c));
  EXPECT_NE(c, ABT_COND_NULL);
  EXPECT_OK(ABT_cond_signal(c));
  EXPECT_OK(ABT_cond_free(&c));
}

TEST(ABT_cond_free, takes_the_handle_away) {
  const runtime rt;
  ABT_cond c = ABT_COND_NULL;
  ASSERT_OK(ABT_cond_create(&c));
  EXPECT_OK(ABT_cond_free(&c));
  EXPECT_EQ(c, ABT_COND_NULL);
}

TEST(ABT_cond_free, refuses_null_handle) {
  const runtime rt;
  for (ABT_cond null : nulls(ABT_COND_NULL))
    EXPECT_ABT(ABT_ERR_INV_COND, ABT_cond_free(&null));
}

TEST(ABT_cond_free, refuses_one_with_a_waiter) {
  const runtime rt;
  const pair p;
  for (const bool kernel : {false, true}) {
    waiters w{p, ABT_cond_wait};
    crowd c;
    c.ults(kernel ? 0 : 1, std::ref(w));
    c.kernel_threads(kernel ? 1 : 0, std::ref(w));
    w.until_waiting(1);
    ABT_cond copy = p.c;
    EXPECT_ABT(ABT_ERR_COND, ABT_cond_free(&copy));
    EXPECT_EQ(copy, p.c);
    EXPECT_OK(ABT_cond_signal(p.c));
    c.join();
    EXPECT_EQ(w.woken, 1);
  }
}

TEST(ABT_cond_wait, is_woken) {
  expect_wakes(ABT_cond_wait);
}
TEST(ABT_cond_wait, refuses_null_handle) {
  expect_refuses_null_handle(ABT_cond_wait);
}
TEST(ABT_cond_wait, refuses_another_mutex) {
  expect_refuses_another_mutex(ABT_cond_wait);
}
TEST(ABT_cond_wait, refuses_tasklet) {
  expect_refuses_tasklet(ABT_cond_wait);
}

// A waiting ULT is switched out, it does not keep its stream.
TEST(ABT_cond_wait, blocks_the_ult) {
  const runtime rt;
  const pair p;
  waiters w{p, ABT_cond_wait};
  crowd c;
  c.ults(1, std::ref(w));
  until_blocked(c.ult(0));
  EXPECT_FALSE(p.locked());
  p.lock();
  EXPECT_OK(ABT_cond_signal(p.c));
  yield_often();
  EXPECT_EQ(w.woken, 0); // woken, but the mutex is ours
  p.unlock();
  c.join();
  EXPECT_EQ(w.woken, 1);
}

// A buffer of one: a lost or a false wake-up stops it or breaks the order.
TEST(ABT_cond_wait, passes_numbers_on) {
  constexpr int count = 300;
  const runtime rt;
  const streams es(2);
  const pair filled;
  ABT_cond emptied = ABT_COND_NULL;
  ASSERT_OK(ABT_cond_create(&emptied));
  std::vector<int> got;
  bool full = false;
  int value = 0;
  {
    crowd c;
    const body take = [&] {
      for (int i = 0; i < count; ++i) {
        filled.lock();
        while (!full)
          EXPECT_OK(ABT_cond_wait(filled.c, filled.m));
        got.push_back(value);
        full = false;
        filled.unlock();
        EXPECT_OK(ABT_cond_signal(emptied));
      }
    };
    const body give = [&] {
      for (int i = 0; i < count; ++i) {
        filled.lock();
        while (full)
          EXPECT_OK(ABT_cond_wait(emptied, filled.m));
        full = true;
        value = 1;
        filled.unlock();
        EXPECT_OK(ABT_cond_signal(filled.c));
      }
    };
    c.ults(1, take, es.pool(0));
    c.ults(1, give, es.pool(1));
    c.kernel_threads(1, take);
    c.kernel_threads(1, give);
  }
  EXPECT_EQ(got.size(), 2U * count);
  EXPECT_OK(ABT_cond_free(&emptied));
}

ABT_mutex_memory static_mutex = ABT_MUTEX_INITIALIZER;
ABT_cond_memory static_cond = ABT_COND_INITIALIZER;

void wait_for_static() {
  const ABT_mutex m = ABT_MUTEX_MEMORY_GET_HANDLE(&static_mutex);
  const ABT_cond c = ABT_COND_MEMORY_GET_HANDLE(&static_cond);
  bool sent = false;
  std::thread other([&] {
    EXPECT_OK(ABT_mutex_lock(m));
    sent = true;
    EXPECT_OK(ABT_cond_broadcast(c));
    EXPECT_OK(ABT_mutex_unlock(m));
  });
  EXPECT_OK(ABT_mutex_lock(m));
  while (!sent)
    EXPECT_OK(ABT_cond_wait(c, m));
  EXPECT_ABT(ABT_ERR_COND_TIMEDOUT, ABT_cond_timedwait(c, m, &long_ago));
  EXPECT_OK(ABT_mutex_unlock(m));
  other.join();
}

TEST(ABT_cond_wait, takes_static_ones_at_any_time) {
  wait_for_static();
  {
    const runtime rt;
    wait_for_static();
    in_thread(wait_for_static);
  }
  wait_for_static();
}

TEST(ABT_cond_timedwait, is_woken) {
  expect_wakes(wait_long);
}
TEST(ABT_cond_timedwait, refuses_null_handle) {
  expect_refuses_null_handle(wait_long);
}
TEST(ABT_cond_timedwait, refuses_another_mutex) {
  expect_refuses_another_mutex(wait_long);
}

// Upstream lets a tasklet poll here. It may not wait, for a while neither.
TEST(ABT_cond_timedwait, refuses_tasklet) {
  expect_refuses_tasklet([](ABT_cond c, ABT_mutex m) {
    const timespec at = after(0.02); // ends also where the tasklet is let in
    return ABT_cond_timedwait(c, m, &at);
  });
}

TEST(ABT_cond_timedwait, refuses_to_wait_longer) {
  const runtime rt;
  const pair p;
  const body wait = [&] {
    p.lock();
    const timespec at = after(0.02);
    EXPECT_ABT(ABT_ERR_COND_TIMEDOUT, ABT_cond_timedwait(p.c, p.m, &at));
    EXPECT_TRUE(reached(at));
    EXPECT_TRUE(p.locked());
    p.unlock();
  };
  wait();
  in_thread(wait);
  in_kernel_thread(wait);
}

TEST(ABT_cond_timedwait, refuses_a_time_that_is_past) {
  const runtime rt;
  const pair p;
  const body wait = [&] {
    p.lock();
    EXPECT_ABT(ABT_ERR_COND_TIMEDOUT, ABT_cond_timedwait(p.c, p.m, &long_ago));
    EXPECT_TRUE(p.locked());
    p.unlock();
  };
  wait();
  in_thread(wait);
  in_kernel_thread(wait);
}

// While it waits the mutex is free and other ULTs of the stream run.
TEST(ABT_cond_timedwait, lets_others_work) {
  const runtime rt;
  const pair p;
  int worked = 0;
  crowd c;
  p.lock();
  c.ults(1, [&] {
    p.lock();
    worked = 1;
    EXPECT_OK(ABT_cond_signal(p.c));
    p.unlock();
  });
  EXPECT_OK(wait_long(p.c, p.m));
  EXPECT_EQ(worked, 1);
  p.unlock();
}

TEST(ABT_cond_timedwait, takes_no_signal_once_it_gave_up) {
  const runtime rt;
  const pair p;
  waiters w{p, ABT_cond_wait};
  crowd c;
  c.ults(1, [&] {
    p.lock();
    const timespec at = after(1e-3);
    EXPECT_ABT(ABT_ERR_COND_TIMEDOUT, ABT_cond_timedwait(p.c, p.m, &at));
    p.unlock();
    w.until_waiting(1);
    EXPECT_OK(ABT_cond_signal(p.c)); // there is but one whom it can wake
  });
  c.ults(1, std::ref(w));
  c.join();
  EXPECT_EQ(w.woken, 1);
}

// Waits that give up next to waits that are woken: everybody returns, always with the mutex.
TEST(ABT_cond_timedwait, gives_up_among_signals) {
  constexpr int rounds = 50;
  const runtime rt;
  const streams es(2);
  const pair p;
  int inside = 0;
  int left = 6;
  crowd c;
  const body wait = [&] {
    for (int i = 0; i < rounds; ++i) {
      p.lock();
      const timespec at = after(i % 5 * 1e-4);
      const int code = ABT_cond_timedwait(p.c, p.m, &at);
      EXPECT_TRUE(code == ABT_SUCCESS || code == ABT_ERR_COND_TIMEDOUT) << name_of(code);
      EXPECT_TRUE(code == ABT_SUCCESS || reached(at));
      EXPECT_EQ(inside++, 0);
      ABT_thread_yield();
      --inside;
      left -= i == rounds - 1;
      p.unlock();
    }
  };
  c.ults(2, wait);
  c.ults(2, wait, es.pool(0));
  c.kernel_threads(2, wait);
  c.ults(
      1,
      [&] {
        for (bool more = true; more;) {
          EXPECT_OK(ABT_cond_signal(p.c));
          ABT_thread_yield();
          p.lock();
          more = left != 0;
          p.unlock();
        }
      },
      es.pool(1));
}

TEST(ABT_cond_signal, wakes_one) {
  const runtime rt;
  const pair p;
  waiters w{p, ABT_cond_wait};
  crowd c;
  c.ults(3, std::ref(w));
  w.until_waiting(3);
  for (int i = 1; i <= 3; ++i) {
    EXPECT_OK(ABT_cond_signal(p.c));
    w.until_woken(i);
    yield_often();
    EXPECT_EQ(w.read(w.woken), i);
  }
}

TEST(ABT_cond_signal, is_not_kept_for_later) {
  const runtime rt;
  const pair p;
  for (int i = 0; i < 3; ++i)
    EXPECT_OK(ABT_cond_signal(p.c));
  EXPECT_OK(ABT_cond_broadcast(p.c));
  waiters w{p, ABT_cond_wait};
  crowd c;
  c.ults(1, std::ref(w));
  until_blocked(c.ult(0));
  yield_often();
  EXPECT_EQ(w.read(w.woken), 0);
  EXPECT_OK(ABT_cond_signal(p.c));
  c.join();
  EXPECT_EQ(w.woken, 1);
}

TEST(ABT_cond_signal, comes_from_anywhere) {
  const runtime rt;
  const pair p;
  const body signal = [&] { EXPECT_OK(ABT_cond_signal(p.c)); };
  waiters w{p, ABT_cond_wait};
  crowd c;
  c.ults(3, std::ref(w));
  w.until_waiting(3);
  in_thread(signal);
  w.until_woken(1);
  in_tasklet(signal);
  w.until_woken(2);
  in_kernel_thread(signal);
  w.until_woken(3);
}

TEST(ABT_cond_signal, refuses_null_handle) {
  const runtime rt;
  for (const ABT_cond null : nulls(ABT_COND_NULL))
    EXPECT_ABT(ABT_ERR_INV_COND, ABT_cond_signal(null));
}

TEST(ABT_cond_broadcast, wakes_all) {
  const runtime rt;
  const streams es(1);
  const pair p;
  for (int round = 0; round < 3; ++round) {
    waiters w{p, ABT_cond_wait};
    crowd c;
    c.ults(3, std::ref(w));
    c.ults(3, std::ref(w), es.pool(0));
    c.kernel_threads(2, std::ref(w));
    w.until_waiting(8);
    EXPECT_EQ(w.read(w.woken), 0);
    EXPECT_OK(ABT_cond_broadcast(p.c));
    c.join();
    EXPECT_EQ(w.woken, 8);
  }
}

TEST(ABT_cond_broadcast, wakes_timed_waits_too) {
  const runtime rt;
  const pair p;
  waiters plain{p, ABT_cond_wait};
  waiters timed{p, wait_long};
  crowd c;
  c.ults(2, std::ref(plain));
  c.ults(2, std::ref(timed));
  plain.until_waiting(2);
  timed.until_waiting(2);
  EXPECT_OK(ABT_cond_broadcast(p.c));
  c.join();
  EXPECT_EQ(plain.woken, 2);
  EXPECT_EQ(timed.woken, 2);
}

TEST(ABT_cond_broadcast, refuses_null_handle) {
  const runtime rt;
  for (const ABT_cond null : nulls(ABT_COND_NULL))
    EXPECT_ABT(ABT_ERR_INV_COND, ABT_cond_broadcast(null));
}

} // namespace
