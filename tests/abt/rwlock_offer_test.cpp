// SPDX-License-Identifier: MIT
// A read-write lock that has been left to a waiter which is ready and has not run: nobody holds it, so
// whoever tries gets it, as a writer or as a reader, however long the waiter's stream is kept busy. Whoever
// waits comes after that waiter.
#include <atomic>
#include <functional>
#include <thread>

#include "front/abt/abtx.h"
#include "units.hpp"

namespace {

using namespace abt_test;

using locking = int (*)(ABT_rwlock);

int write_until_now(ABT_rwlock l) {
  const timespec past{1, 0};
  return ABTX_rwlock_timedwrlock(l, &past);
}
int read_until_now(ABT_rwlock l) {
  const timespec past{1, 0};
  return ABTX_rwlock_timedrdlock(l, &past);
}
int write_for_a_while(ABT_rwlock l) {
  timespec at{};
  clock_gettime(CLOCK_REALTIME, &at);
  at.tv_sec += 100;
  return ABTX_rwlock_timedwrlock(l, &at);
}
constexpr locking that_try[] = {ABTX_rwlock_trywrlock, ABTX_rwlock_tryrdlock, write_until_now,
                                read_until_now};

// The lock is held in one way, and a ULT of this stream, or a kernel thread, waits for it in another.
class waited_for {
 public:
  waited_for(locking hold, locking wait, bool foreign) : wait_(wait) {
    EXPECT_OK(ABT_rwlock_create(&lock_));
    EXPECT_OK(hold(lock_));
    if (foreign) {
      kernel_thread_ = std::thread(take_);
      std::this_thread::sleep_for(std::chrono::milliseconds(1)); // if it does not wait yet, less is tested
    } else {
      waiter_ = new_thread(self_pool(), take_);
      EXPECT_OK(ABT_thread_yield());
    }
  }
  waited_for(const waited_for&) = delete;
  waited_for& operator=(const waited_for&) = delete;
  ~waited_for() {
    if (kernel_thread_.joinable())
      kernel_thread_.join();
    else
      EXPECT_OK(ABT_thread_free(&waiter_));
    EXPECT_TRUE(had_it_);
    EXPECT_OK(ABTX_rwlock_trywrlock(lock_));
    EXPECT_OK(ABT_rwlock_unlock(lock_));
    EXPECT_OK(ABT_rwlock_free(&lock_));
  }

  operator ABT_rwlock() const { return lock_; }
  bool had_it() const { return had_it_; }

 private:
  const locking wait_;
  std::atomic<bool> had_it_ = false;
  body take_ = [this] {
    EXPECT_OK(wait_(lock_));
    had_it_ = true;
    EXPECT_OK(ABT_rwlock_unlock(lock_));
  };
  ABT_rwlock lock_ = ABT_RWLOCK_NULL;
  ABT_thread waiter_ = ABT_THREAD_NULL;
  std::thread kernel_thread_;
};

// Every way of holding it in which the other has to wait.
template <class Test>
void for_each_way(bool foreign, Test test) {
  const locking ways[][2] = {{ABT_rwlock_wrlock, ABT_rwlock_wrlock},
                             {ABT_rwlock_wrlock, ABT_rwlock_rdlock},
                             {ABT_rwlock_rdlock, ABT_rwlock_wrlock},
                             {ABT_rwlock_wrlock, write_for_a_while}};
  for (const auto& [hold, wait] : ways) {
    waited_for l(hold, wait, foreign);
    test(l);
  }
}

// Without a yield; EXPECT_OK would tell of each attempt.
void take_in_a_loop(ABT_rwlock l, locking one) {
  while (one(l) != ABT_SUCCESS) {
  }
}

TEST(ABT_rwlock_offer, is_taken_by_one_that_tries) {
  const runtime rt;
  for (const locking one : that_try) {
    for_each_way(false, [one](waited_for& l) {
      for (int i = 0; i < 5; ++i) { // offered again by each unlock
        EXPECT_OK(ABT_rwlock_unlock(l));
        take_in_a_loop(l, one);
        EXPECT_FALSE(l.had_it());
      }
      EXPECT_OK(ABT_rwlock_unlock(l));
    });
  }
}

TEST(ABT_rwlock_offer, to_a_kernel_thread_is_taken_by_one_that_tries) {
  const runtime rt;
  for (const locking one : that_try) {
    for_each_way(true, [one](waited_for& l) {
      for (int i = 0; i < 5; ++i) {
        EXPECT_OK(ABT_rwlock_unlock(l));
        take_in_a_loop(l, one);
      }
      EXPECT_OK(ABT_rwlock_unlock(l));
    });
  }
}

TEST(ABT_rwlock_offer, is_taken_by_a_tasklet_and_by_a_kernel_thread) {
  const runtime rt;
  for (const locking one : {ABTX_rwlock_trywrlock, ABTX_rwlock_tryrdlock}) {
    for (const bool foreign : {false, true}) {
      for_each_way(false, [one, foreign](waited_for& l) {
        body act = [&] {
          take_in_a_loop(l, one);
          EXPECT_OK(ABT_rwlock_unlock(l));
        };
        EXPECT_OK(ABT_rwlock_unlock(l));
        if (foreign) {
          std::thread(act).join(); // nothing else runs on this stream meanwhile
          EXPECT_FALSE(l.had_it());
        } else {
          ABT_task t = new_task(self_pool(), act);
          EXPECT_OK(ABT_task_free(&t));
        }
      });
    }
  }
}

TEST(ABT_rwlock_offer, comes_before_one_that_waits) {
  const runtime rt;
  for (const locking wait : {ABT_rwlock_wrlock, locking{write_for_a_while}}) {
    for_each_way(false, [wait](waited_for& l) {
      EXPECT_OK(ABT_rwlock_unlock(l));
      EXPECT_OK(wait(l));
      EXPECT_TRUE(l.had_it());
      EXPECT_OK(ABT_rwlock_unlock(l));
    });
  }
}

} // namespace
