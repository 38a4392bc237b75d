// SPDX-License-Identifier: MIT
// A mutex that has been left to a waiter which is ready and has not run: nobody holds it, so whoever tries
// gets it, on any stream, however long the waiter's stream is kept busy. Whoever waits comes after that
// waiter.
#include <atomic>
#include <functional>
#include <thread>

#include "front/abt/abtx.h"
#include "units.hpp"

namespace {

using namespace abt_test;

// The mutex is nobody's, and the next turn of this stream is that of a ULT which has lost it again and again.
class offered {
 public:
  explicit offered(bool recursive) {
    ABT_mutex_attr attr = ABT_MUTEX_ATTR_NULL;
    EXPECT_OK(ABT_mutex_attr_create(&attr));
    EXPECT_OK(ABT_mutex_attr_set_recursive(attr, recursive ? ABT_TRUE : ABT_FALSE));
    EXPECT_OK(ABT_mutex_create_with_attr(attr, &mutex_));
    EXPECT_OK(ABT_mutex_attr_free(&attr));
    EXPECT_OK(ABT_mutex_lock(mutex_));
    waiter_ = new_thread(self_pool(), wait_);
    EXPECT_OK(ABT_thread_yield());
    for (int i = 0; i < 8; ++i) {
      EXPECT_OK(ABT_mutex_unlock(mutex_));
      EXPECT_OK(ABT_mutex_trylock(mutex_));
      EXPECT_OK(ABT_thread_yield()); // it looks in vain
    }
    EXPECT_FALSE(waiter_had_it_);
  }
  ~offered() {
    EXPECT_OK(ABT_thread_free(&waiter_));
    EXPECT_TRUE(waiter_had_it_);
    EXPECT_OK(ABT_mutex_trylock(mutex_));
    EXPECT_OK(ABT_mutex_unlock(mutex_));
    EXPECT_OK(ABT_mutex_free(&mutex_));
  }
  offered(const offered&) = delete;
  offered& operator=(const offered&) = delete;

  operator ABT_mutex() const { return mutex_; }
  bool waiter_had_it() const { return waiter_had_it_; }

 private:
  std::atomic<bool> waiter_had_it_ = false;
  body wait_ = [this] {
    EXPECT_OK(ABT_mutex_lock(mutex_));
    waiter_had_it_ = true;
    EXPECT_OK(ABT_mutex_unlock(mutex_));
  };
  ABT_mutex mutex_ = ABT_MUTEX_NULL;
  ABT_thread waiter_ = ABT_THREAD_NULL;
};

using taking = std::function<void(ABT_mutex)>;
void try_once(ABT_mutex m) {
  EXPECT_OK(ABT_mutex_trylock(m));
}
void try_in_a_loop(ABT_mutex m) {
  while (ABT_mutex_trylock(m) != ABT_SUCCESS) {
  }
}
void spin(ABT_mutex m) {
  EXPECT_OK(ABT_mutex_spinlock(m));
}
void try_until_now(ABT_mutex m) {
  const timespec past{1, 0};
  EXPECT_OK(ABTX_mutex_timedlock(m, &past));
}
const taking that_try[] = {try_once, try_in_a_loop, spin, try_until_now};

void lock(ABT_mutex m) {
  EXPECT_OK(ABT_mutex_lock(m));
}
void lock_for_a_while(ABT_mutex m) {
  timespec at{};
  clock_gettime(CLOCK_REALTIME, &at);
  at.tv_sec += 100;
  EXPECT_OK(ABTX_mutex_timedlock(m, &at));
}
const taking that_wait[] = {lock, lock_for_a_while};

template <class Take>
void for_both_kinds(Take take) {
  for (const bool recursive : {false, true}) {
    offered m(recursive);
    take(m);
  }
}

TEST(ABT_mutex_offer, is_taken_by_a_ult_of_the_same_stream_that_tries) {
  const runtime rt;
  for (const taking& take : that_try) {
    for_both_kinds([&](offered& m) {
      for (int i = 0; i < 5; ++i) { // offered again by each unlock
        EXPECT_OK(ABT_mutex_unlock(m));
        take(m);
        EXPECT_FALSE(m.waiter_had_it());
      }
      EXPECT_OK(ABT_mutex_unlock(m));
    });
  }
}

TEST(ABT_mutex_offer, comes_before_a_ult_of_the_same_stream_that_waits) {
  const runtime rt;
  for (const taking& take : that_wait) {
    for_both_kinds([&](offered& m) {
      EXPECT_OK(ABT_mutex_unlock(m));
      take(m);
      EXPECT_TRUE(m.waiter_had_it());
      EXPECT_OK(ABT_mutex_unlock(m));
    });
  }
}

// It may not wait, and its turn is before the waiter's.
TEST(ABT_mutex_offer, is_taken_by_a_tasklet) {
  const runtime rt;
  for (const taking& take :
       {that_try[0], that_try[1], that_try[2], that_try[3], that_wait[0], that_wait[1]}) {
    for_both_kinds([&](offered& m) {
      body act = [&] {
        take(m);
        EXPECT_FALSE(m.waiter_had_it());
        EXPECT_OK(ABT_mutex_unlock(m));
      };
      ABT_task t = new_task(self_pool(), act);
      EXPECT_OK(ABT_mutex_unlock(m));
      EXPECT_OK(ABT_task_free(&t));
    });
  }
}

TEST(ABT_mutex_offer, is_taken_by_a_kernel_thread_that_tries) {
  const runtime rt;
  for (const taking& take : that_try) {
    for_both_kinds([&](offered& m) {
      EXPECT_OK(ABT_mutex_unlock(m));
      std::thread([&] { // nothing else runs on this stream meanwhile
        take(m);
        EXPECT_FALSE(m.waiter_had_it());
        EXPECT_OK(ABT_mutex_unlock(m));
      })
          .join();
    });
  }
}

TEST(ABT_mutex_offer, is_taken_by_a_ult_of_another_stream_that_tries) {
  const runtime rt;
  const streams es(1);
  for (const taking& take : that_try) {
    for_both_kinds([&](offered& m) {
      std::atomic<bool> done = false;
      body act = [&] {
        take(m);
        EXPECT_FALSE(m.waiter_had_it());
        EXPECT_OK(ABT_mutex_unlock(m));
        done = true;
      };
      EXPECT_OK(ABT_mutex_unlock(m));
      ABT_thread t = new_thread(es.pool(0), act);
      while (!done) // nothing else runs on this stream meanwhile
        std::this_thread::yield();
      EXPECT_OK(ABT_thread_free(&t));
    });
  }
}

// Who waits for a condition variable gives the mutex back and takes it again.
TEST(ABT_mutex_offer, is_the_waiters_while_its_owner_waits_for_a_condition_variable) {
  const runtime rt;
  for_both_kinds([&](offered& m) {
    ABT_cond c = ABT_COND_NULL;
    EXPECT_OK(ABT_cond_create(&c));
    body signal = [&] { EXPECT_OK(ABT_cond_signal(c)); };
    ABT_thread t = new_thread(self_pool(), signal);
    EXPECT_OK(ABT_cond_wait(c, m));
    EXPECT_TRUE(m.waiter_had_it());
    EXPECT_OK(ABT_mutex_unlock(m));
    EXPECT_OK(ABT_thread_free(&t));
    EXPECT_OK(ABT_cond_free(&c));
  });
}

} // namespace
