// SPDX-License-Identifier: MIT
// Where upstream's synchronisation objects are weak, dead-lock or leave things undefined, and ours are not.
// These tests are for our library only: with upstream some of them fail and some never end.
#include <cstring>
#include <limits>

#include <sys/resource.h>

#include "sync.hpp"

using namespace abt_test;

namespace {

double cpu_seconds() {
  rusage used{};
  EXPECT_EQ(0, ::getrusage(RUSAGE_SELF, &used));
  const auto seconds = [](const timeval& t) { return static_cast<double>(t.tv_sec) + 1e-6 * t.tv_usec; };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

// The processor time of the whole process, idle streams and all.
void expect_sleeps(const std::function<void(const timespec&)>& wait) {
  const runtime rt;
  const streams es(1);
  wait(long_ago); // what happens only the first time is not meant
  in_thread([&] { wait(long_ago); }, es.pool(0));
  const double before = cpu_seconds();
  const timespec at = after(0.3);
  {
    crowd c;
    c.ults(2, [&] { wait(at); });
    c.ults(2, [&] { wait(at); }, es.pool(0));
    wait(at);
    EXPECT_TRUE(reached(at));
  }
  EXPECT_LT(cpu_seconds() - before, 0.15);
}

TEST(better_than_upstream, cond_timedwait_does_not_poll) {
  ABT_mutex_memory mutex_memory = ABT_MUTEX_INITIALIZER;
  ABT_cond_memory cond_memory = ABT_COND_INITIALIZER;
  const ABT_mutex m = ABT_MUTEX_MEMORY_GET_HANDLE(&mutex_memory);
  const ABT_cond c = ABT_COND_MEMORY_GET_HANDLE(&cond_memory);
  expect_sleeps([&](const timespec& at) {
    EXPECT_OK(ABT_mutex_lock(m));
    EXPECT_ABT(ABT_ERR_COND_TIMEDOUT, ABT_cond_timedwait(c, m, &at));
    EXPECT_OK(ABT_mutex_unlock(m));
  });
}

TEST(better_than_upstream, eventual_timedwait_does_not_poll) {
  ABT_eventual_memory memory = ABT_EVENTUAL_INITIALIZER;
  const ABT_eventual e = ABT_EVENTUAL_MEMORY_GET_HANDLE(&memory);
  expect_sleeps([&](const timespec& at) {
    EXPECT_ABT(ABT_ERR_COND_TIMEDOUT, ABT_eventual_timedwait(e, nullptr, &at));
  });
}

TEST(better_than_upstream, a_timed_wait_suspends_the_ult) {
  const runtime rt;
  ABT_mutex m = ABT_MUTEX_NULL;
  ABT_cond cv = ABT_COND_NULL;
  ABT_eventual e = ABT_EVENTUAL_NULL;
  ASSERT_OK(ABT_mutex_create(&m));
  ASSERT_OK(ABT_cond_create(&cv));
  ASSERT_OK(ABT_eventual_create(0, &e));
  const timespec at = far();
  {
    crowd c;
    c.ults(1, [&] {
      EXPECT_OK(ABT_mutex_lock(m));
      EXPECT_OK(ABT_cond_timedwait(cv, m, &at));
      EXPECT_OK(ABT_mutex_unlock(m));
    });
    c.ults(1, [&] { EXPECT_OK(ABT_eventual_timedwait(e, nullptr, &at)); });
    until_blocked(c.ult(0));
    until_blocked(c.ult(1));
    EXPECT_OK(ABT_cond_signal(cv));
    EXPECT_OK(ABT_eventual_set(e, nullptr, 0));
  }
  EXPECT_OK(ABT_eventual_free(&e));
  EXPECT_OK(ABT_cond_free(&cv));
  EXPECT_OK(ABT_mutex_free(&m));
}

// The mutex of a condition variable is the one of those who wait now, not of those who ever did.
TEST(better_than_upstream, cond_takes_another_mutex_when_nobody_waits) {
  const runtime rt;
  ABT_cond cv = ABT_COND_NULL;
  ASSERT_OK(ABT_cond_create(&cv));
  for (int i = 0; i < 3; ++i) {
    ABT_mutex m = ABT_MUTEX_NULL;
    ABT_mutex other = ABT_MUTEX_NULL;
    ASSERT_OK(ABT_mutex_create(&m));
    ASSERT_OK(ABT_mutex_create(&other));
    {
      crowd c;
      c.ults(2, [&] {
        EXPECT_OK(ABT_mutex_lock(m));
        EXPECT_OK(ABT_cond_wait(cv, m));
        EXPECT_OK(ABT_mutex_unlock(m));
      });
      until_blocked(c.ult(0));
      until_blocked(c.ult(1));
      EXPECT_OK(ABT_mutex_lock(other));
      EXPECT_ABT(ABT_ERR_INV_MUTEX, ABT_cond_timedwait(cv, other, &long_ago));
      EXPECT_OK(ABT_cond_broadcast(cv));
    }
    EXPECT_ABT(ABT_ERR_COND_TIMEDOUT, ABT_cond_timedwait(cv, other, &long_ago));
    EXPECT_OK(ABT_mutex_unlock(other));
    EXPECT_OK(ABT_mutex_free(&m));
    EXPECT_OK(ABT_mutex_free(&other));
  }
  EXPECT_OK(ABT_cond_free(&cv));
}

// What a callback, which is given nothing but the values, does to its future.
struct inside {
  static inline ABT_future future;
  static inline ABT_eventual go_on;
  static inline bool ended;

  static void callback(void**) {
    ABT_bool ready = ABT_TRUE;
    EXPECT_OK(ABT_future_test(future, &ready));
    EXPECT_EQ(ready, ABT_FALSE);
    EXPECT_ABT(ABT_ERR_FUTURE, ABT_future_set(future, nullptr)); // it is full
    ABT_thread_yield();
    EXPECT_OK(ABT_eventual_wait(go_on, nullptr));
    ended = true;
  }
};

TEST(better_than_upstream, future_callback_may_use_the_future_and_be_suspended) {
  const runtime rt;
  ASSERT_OK(ABT_future_create(1, inside::callback, &inside::future));
  ASSERT_OK(ABT_eventual_create(0, &inside::go_on));
  inside::ended = false;
  {
    crowd c;
    c.ults(1, [] {
      EXPECT_OK(ABT_future_wait(inside::future));
      EXPECT_TRUE(inside::ended);
    });
    until_blocked(c.ult(0));
    c.ults(1, [] {
      EXPECT_OK(ABT_future_set(inside::future, nullptr));
      EXPECT_TRUE(inside::ended);
    });
    until_blocked(c.ult(1)); // in the callback
    ABT_bool ready = ABT_TRUE;
    EXPECT_OK(ABT_future_test(inside::future, &ready));
    EXPECT_EQ(ready, ABT_FALSE);
    EXPECT_ABT(ABT_ERR_FUTURE, ABT_future_set(inside::future, nullptr));
    EXPECT_TRUE(blocked(c.ult(0)));
    EXPECT_OK(ABT_eventual_set(inside::go_on, nullptr, 0));
    EXPECT_OK(ABT_future_wait(inside::future));
    EXPECT_TRUE(inside::ended);
  }
  EXPECT_OK(ABT_eventual_free(&inside::go_on));
  EXPECT_OK(ABT_future_free(&inside::future));
}

// ABT_get_wtime() is CLOCK_MONOTONIC, so that nobody who sets the clock makes it jump.
TEST(better_than_upstream, wtime_is_monotonic) {
  const auto monotonic = [] {
    timespec t{};
    ::clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
  };
  double last = 0;
  for (int i = 0; i < 10000; ++i) {
    const double before = monotonic();
    const double t = ABT_get_wtime();
    const double then = monotonic();
    ASSERT_GE(t, before - 1e-6); // doubles: a bit of room
    ASSERT_LE(t, then + 1e-6);
    ASSERT_GE(t, last);
    last = t;
  }
}

using operation = int (*)(ABT_rwlock);

// A chain of holders: each one comes before the one before it leaves, so that the lock is never free of them.
// Whoever wants it otherwise gets it before the chain ends.
void expect_not_starved(operation chained, operation wanted) {
  constexpr std::size_t links = 500;
  const runtime rt;
  ABT_rwlock l = ABT_RWLOCK_NULL;
  ASSERT_OK(ABT_rwlock_create(&l));
  bool got = false;
  bool broken = false; // the chain, once the waiter has been in
  std::size_t link = 0;
  {
    std::deque<bool> left;
    std::deque<bool> inside;
    crowd c;
    const auto join_chain = [&] {
      left.push_back(false);
      inside.push_back(false);
      bool& leave = left.back();
      bool& in = inside.back();
      c.ults(1, [&] {
        EXPECT_OK(chained(l));
        in = true;
        while (!leave)
          ABT_thread_yield();
        EXPECT_OK(ABT_rwlock_unlock(l));
      });
      yield_until([&] { return in || blocked(c.ult(link)); });
    };
    join_chain();
    EXPECT_TRUE(inside[0]);
    crowd waiter;
    waiter.ults(1, [&] {
      EXPECT_OK(wanted(l));
      got = true;
      broken = link + 1 < links;
      EXPECT_OK(ABT_rwlock_unlock(l));
    });
    until_blocked(waiter.ult(0));
    while (!got && ++link < links) {
      join_chain();
      left[link - 1] = true;
      yield_until([&] { return inside[link] || got; });
    }
    left.back() = true;
  }
  EXPECT_TRUE(broken);
  EXPECT_OK(ABT_rwlock_free(&l));
}

TEST(better_than_upstream, readers_do_not_starve_a_writer) {
  expect_not_starved(ABT_rwlock_rdlock, ABT_rwlock_wrlock);
}
TEST(better_than_upstream, writers_do_not_starve_a_reader) {
  expect_not_starved(ABT_rwlock_wrlock, ABT_rwlock_rdlock);
}
TEST(better_than_upstream, writers_do_not_starve_a_writer) {
  expect_not_starved(ABT_rwlock_wrlock, ABT_rwlock_wrlock);
}

// What a timespec can hold that is no moment to come: nanoseconds out of range too.
constexpr auto first_second = std::numeric_limits<time_t>::min();
constexpr long least = std::numeric_limits<long>::min();
constexpr long most = std::numeric_limits<long>::max(); // 292 years
constexpr timespec past_times[] = {{0, 0},
                                   {1, 0},
                                   {-1, 0},
                                   {first_second, 0},
                                   {0, -1},
                                   {1, -77},
                                   {-1000, -1},
                                   {1, 2000000000L},
                                   {0, least},
                                   {-1, least},
                                   {-9000000000, most},
                                   {first_second, 1},
                                   {first_second, most},
                                   {first_second, least}};

// Runs `f` with each of the two functions that have a time, as wait(abstime).
void with_timed_waits(const std::function<void(const std::function<int(const timespec*)>&)>& f) {
  ABT_mutex_memory mutex_memory = ABT_MUTEX_INITIALIZER;
  ABT_cond_memory cond_memory = ABT_COND_INITIALIZER;
  ABT_eventual_memory eventual_memory = ABT_EVENTUAL_INITIALIZER;
  const ABT_mutex m = ABT_MUTEX_MEMORY_GET_HANDLE(&mutex_memory);
  f([&](const timespec* at) {
    EXPECT_OK(ABT_mutex_lock(m));
    const int code = ABT_cond_timedwait(ABT_COND_MEMORY_GET_HANDLE(&cond_memory), m, at);
    EXPECT_ABT(ABT_ERR_MUTEX_LOCKED, ABT_mutex_trylock(m)); // held however it ended
    EXPECT_OK(ABT_mutex_unlock(m));
    return code;
  });
  f([&](const timespec* at) {
    return ABT_eventual_timedwait(ABT_EVENTUAL_MEMORY_GET_HANDLE(&eventual_memory), nullptr, at);
  });
}

TEST(better_than_upstream, a_time_that_is_past_ends_a_wait_at_once) {
  const runtime rt;
  with_timed_waits([](const std::function<int(const timespec*)>& wait) {
    const body f = [&] {
      for (const timespec& at : past_times)
        EXPECT_ABT(ABT_ERR_COND_TIMEDOUT, wait(&at)) << at.tv_sec << ' ' << at.tv_nsec;
    };
    f();
    in_thread(f);
    in_kernel_thread(f);
  });
}

TEST(better_than_upstream, refuses_a_timed_wait_without_a_time) {
  const runtime rt;
  with_timed_waits([](const std::function<int(const timespec*)>& wait) {
    const body f = [&] { EXPECT_ABT(ABT_ERR_INV_ARG, wait(nullptr)); };
    f();
    in_thread(f);
    in_kernel_thread(f);
  });
}

// Added to something, the end of all time must not become the past.
TEST(better_than_upstream, the_last_moment_of_all_is_in_the_future) {
  constexpr time_t last = std::numeric_limits<time_t>::max();
  const runtime rt;
  for (const timespec at : {timespec{last, 999999999}, timespec{last, 0}, timespec{last / 1000000000, 0}}) {
    ABT_eventual e = ABT_EVENTUAL_NULL;
    ASSERT_OK(ABT_eventual_create(0, &e));
    {
      std::atomic<int> entered = 0;
      const body f = [&] {
        ++entered;
        EXPECT_OK(ABT_eventual_timedwait(e, nullptr, &at));
      };
      crowd c;
      c.ults(1, f);
      c.kernel_threads(1, f);
      yield_until([&] { return entered == 2; });
      yield_often();
      EXPECT_OK(ABT_eventual_set(e, nullptr, 0));
    }
    EXPECT_OK(ABT_eventual_free(&e));
  }
}

// The memories of static objects are arrays of int, so that 4 bytes are all the alignment that is certain.
// Marks before and behind tell whether the object keeps within.
template <class Memory>
class misplaced {
 public:
  misplaced(std::size_t offset, const Memory& value) : at_(64 + offset) {
    std::memset(bytes_, '#', sizeof bytes_);
    std::memcpy(bytes_ + at_, &value, sizeof value);
  }
  ~misplaced() {
    for (std::size_t i = 0; i < sizeof bytes_; ++i) {
      if (i < at_ || i >= at_ + sizeof(Memory)) {
        EXPECT_EQ(bytes_[i], '#') << "written beyond the object";
      }
    }
  }
  Memory* get() { return reinterpret_cast<Memory*>(bytes_ + at_); }

 private:
  alignas(64) char bytes_[4 * 64];
  const std::size_t at_;
};

class misplaced_memory : public ::testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(better_than_upstream, misplaced_memory,
                         ::testing::Values(0U, 4U, 12U, 20U, 28U, 36U, 44U, 52U, 56U, 60U));

TEST_P(misplaced_memory, holds_mutexes) {
  constexpr int rounds = 100;
  for (const bool recursive : {false, true}) {
    const ABT_mutex_memory plain = ABT_MUTEX_INITIALIZER;
    const ABT_mutex_memory nested = ABT_RECURSIVE_MUTEX_INITIALIZER;
    misplaced<ABT_mutex_memory> memory(GetParam(), recursive ? nested : plain);
    const ABT_mutex m = ABT_MUTEX_MEMORY_GET_HANDLE(memory.get());
    const runtime rt;
    const streams es(1);
    long count = 0;
    const body add = [&] {
      for (int i = 0; i < rounds; ++i) {
        EXPECT_OK(ABT_mutex_lock(m));
        EXPECT_ABT(recursive ? ABT_SUCCESS : ABT_ERR_MUTEX_LOCKED, ABT_mutex_trylock(m));
        const long before = count;
        ABT_thread_yield();
        count = before + 1;
        if (recursive) {
          EXPECT_OK(ABT_mutex_unlock(m));
        }
        EXPECT_OK(ABT_mutex_unlock(m));
      }
    };
    {
      crowd c;
      c.ults(2, add);
      c.ults(2, add, es.pool(0));
      c.kernel_threads(2, add);
    }
    EXPECT_EQ(count, 6 * rounds);
  }
}

TEST_P(misplaced_memory, holds_condition_variables_and_eventuals) {
  misplaced<ABT_mutex_memory> mutex_memory(GetParam(), ABT_MUTEX_INITIALIZER);
  misplaced<ABT_cond_memory> cond_memory(GetParam(), ABT_COND_INITIALIZER);
  misplaced<ABT_eventual_memory> eventual_memory(GetParam(), ABT_EVENTUAL_INITIALIZER);
  const ABT_mutex m = ABT_MUTEX_MEMORY_GET_HANDLE(mutex_memory.get());
  const ABT_cond cv = ABT_COND_MEMORY_GET_HANDLE(cond_memory.get());
  const ABT_eventual e = ABT_EVENTUAL_MEMORY_GET_HANDLE(eventual_memory.get());
  const runtime rt;
  const streams es(1);
  for (int round = 0; round < 3; ++round) {
    int waiting = 0;
    const timespec at = far();
    const body wait = [&] {
      EXPECT_OK(ABT_mutex_lock(m));
      ++waiting;
      EXPECT_OK(waiting % 2 == 0 ? ABT_cond_wait(cv, m) : ABT_cond_timedwait(cv, m, &at));
      EXPECT_OK(ABT_mutex_unlock(m));
      EXPECT_OK(ABT_eventual_wait(e, nullptr));
      EXPECT_OK(ABT_eventual_timedwait(e, nullptr, &long_ago));
    };
    {
      crowd c;
      c.ults(2, wait);
      c.ults(2, wait, es.pool(0));
      c.kernel_threads(2, wait);
      yield_until([&] {
        EXPECT_OK(ABT_mutex_lock(m));
        const bool all = waiting == 6;
        EXPECT_OK(ABT_mutex_unlock(m));
        return all;
      });
      EXPECT_OK(ABT_cond_signal(cv));
      EXPECT_OK(ABT_cond_broadcast(cv));
      EXPECT_OK(ABT_eventual_set(e, nullptr, 0));
    }
    EXPECT_OK(ABT_eventual_reset(e));
  }
}

// Whoever is woken may free what it waited for, while the one that woke it is still in the call.
TEST(better_than_upstream, the_waiter_may_free_what_it_waited_for) {
  const runtime rt;
  const streams es(1);
  for (int i = 0; i < 500; ++i) {
    ABT_eventual e = ABT_EVENTUAL_NULL;
    ABT_future f = ABT_FUTURE_NULL;
    ASSERT_OK(ABT_eventual_create(0, &e));
    ASSERT_OK(ABT_future_create(1, nullptr, &f));
    crowd c;
    c.ults(
        1,
        [e, f] {
          EXPECT_OK(ABT_eventual_set(e, nullptr, 0));
          EXPECT_OK(ABT_future_set(f, nullptr));
        },
        es.pool(0));
    const body wait = [&] {
      EXPECT_OK(ABT_eventual_wait(e, nullptr));
      EXPECT_OK(ABT_eventual_free(&e));
      EXPECT_OK(ABT_future_wait(f));
      EXPECT_OK(ABT_future_free(&f));
    };
    if (i % 2 == 0) {
      wait();
    } else {
      in_kernel_thread(wait);
    }
  }
}

// Frees the object and gives what its handle was.
template <class Handle>
Handle freed(Handle h, int (*free)(Handle*)) {
  const Handle before = h;
  EXPECT_OK(free(&h));
  Handle again = before;
  const int code = free(&again);
  EXPECT_NE(code, ABT_SUCCESS) << "freed twice";
  return before;
}

TEST(better_than_upstream, a_freed_mutex_is_told) {
  const runtime rt;
  ABT_mutex m = ABT_MUTEX_NULL;
  ASSERT_OK(ABT_mutex_create(&m));
  m = freed(m, ABT_mutex_free);
  ABT_mutex_attr attr = ABT_MUTEX_ATTR_NULL;
  for (auto* f : {ABT_mutex_lock, ABT_mutex_lock_high, ABT_mutex_lock_low, ABT_mutex_trylock,
                  ABT_mutex_spinlock, ABT_mutex_unlock, ABT_mutex_unlock_se, ABT_mutex_unlock_de})
    EXPECT_ABT(ABT_ERR_INV_MUTEX, f(m));
  EXPECT_ABT(ABT_ERR_INV_MUTEX, ABT_mutex_get_attr(m, &attr));
  ASSERT_OK(ABT_mutex_attr_create(&attr));
  attr = freed(attr, ABT_mutex_attr_free);
  ABT_bool recursive = ABT_FALSE;
  EXPECT_ABT(ABT_ERR_INV_MUTEX_ATTR, ABT_mutex_attr_set_recursive(attr, ABT_TRUE));
  EXPECT_ABT(ABT_ERR_INV_MUTEX_ATTR, ABT_mutex_attr_get_recursive(attr, &recursive));
}

TEST(better_than_upstream, a_freed_condition_variable_is_told) {
  const runtime rt;
  ABT_mutex m = ABT_MUTEX_NULL;
  ABT_cond c = ABT_COND_NULL;
  ASSERT_OK(ABT_mutex_create(&m));
  ASSERT_OK(ABT_cond_create(&c));
  c = freed(c, ABT_cond_free);
  EXPECT_OK(ABT_mutex_lock(m));
  EXPECT_ABT(ABT_ERR_INV_COND, ABT_cond_wait(c, m));
  EXPECT_ABT(ABT_ERR_INV_COND, ABT_cond_timedwait(c, m, &long_ago));
  EXPECT_OK(ABT_mutex_unlock(m));
  EXPECT_ABT(ABT_ERR_INV_COND, ABT_cond_signal(c));
  EXPECT_ABT(ABT_ERR_INV_COND, ABT_cond_broadcast(c));
  ASSERT_OK(ABT_cond_create(&c));
  m = freed(m, ABT_mutex_free);
  EXPECT_ABT(ABT_ERR_INV_MUTEX, ABT_cond_wait(c, m));
  EXPECT_ABT(ABT_ERR_INV_MUTEX, ABT_cond_timedwait(c, m, &long_ago));
  EXPECT_OK(ABT_cond_free(&c));
}

TEST(better_than_upstream, a_freed_rwlock_is_told) {
  const runtime rt;
  ABT_rwlock l = ABT_RWLOCK_NULL;
  ASSERT_OK(ABT_rwlock_create(&l));
  l = freed(l, ABT_rwlock_free);
  for (auto* f : {ABT_rwlock_rdlock, ABT_rwlock_wrlock, ABT_rwlock_unlock})
    EXPECT_ABT(ABT_ERR_INV_RWLOCK, f(l));
}

TEST(better_than_upstream, a_freed_eventual_is_told) {
  const runtime rt;
  ABT_eventual e = ABT_EVENTUAL_NULL;
  ASSERT_OK(ABT_eventual_create(0, &e));
  e = freed(e, ABT_eventual_free);
  ABT_bool ready = ABT_FALSE;
  EXPECT_ABT(ABT_ERR_INV_EVENTUAL, ABT_eventual_wait(e, nullptr));
  EXPECT_ABT(ABT_ERR_INV_EVENTUAL, ABT_eventual_timedwait(e, nullptr, &long_ago));
  EXPECT_ABT(ABT_ERR_INV_EVENTUAL, ABT_eventual_test(e, nullptr, &ready));
  EXPECT_ABT(ABT_ERR_INV_EVENTUAL, ABT_eventual_set(e, nullptr, 0));
  EXPECT_ABT(ABT_ERR_INV_EVENTUAL, ABT_eventual_reset(e));
}

TEST(better_than_upstream, a_freed_future_is_told) {
  const runtime rt;
  ABT_future f = ABT_FUTURE_NULL;
  ASSERT_OK(ABT_future_create(1, nullptr, &f));
  f = freed(f, ABT_future_free);
  ABT_bool ready = ABT_FALSE;
  EXPECT_ABT(ABT_ERR_INV_FUTURE, ABT_future_wait(f));
  EXPECT_ABT(ABT_ERR_INV_FUTURE, ABT_future_test(f, &ready));
  EXPECT_ABT(ABT_ERR_INV_FUTURE, ABT_future_set(f, nullptr));
  EXPECT_ABT(ABT_ERR_INV_FUTURE, ABT_future_reset(f));
}

TEST(better_than_upstream, a_freed_barrier_is_told) {
  const runtime rt;
  ABT_barrier b = ABT_BARRIER_NULL;
  ASSERT_OK(ABT_barrier_create(1, &b));
  b = freed(b, ABT_barrier_free);
  uint32_t n = 0;
  EXPECT_ABT(ABT_ERR_INV_BARRIER, ABT_barrier_wait(b));
  EXPECT_ABT(ABT_ERR_INV_BARRIER, ABT_barrier_reinit(b, 1));
  EXPECT_ABT(ABT_ERR_INV_BARRIER, ABT_barrier_get_num_waiters(b, &n));
  ABT_xstream_barrier x = ABT_XSTREAM_BARRIER_NULL;
  ASSERT_OK(ABT_xstream_barrier_create(1, &x));
  x = freed(x, ABT_xstream_barrier_free);
  EXPECT_ABT(ABT_ERR_INV_XSTREAM_BARRIER, ABT_xstream_barrier_wait(x));
}

TEST(better_than_upstream, a_freed_timer_is_told) {
  ABT_timer t = ABT_TIMER_NULL;
  ASSERT_OK(ABT_timer_create(&t));
  t = freed(t, ABT_timer_free);
  ABT_timer copy = ABT_TIMER_NULL;
  double seconds = 0;
  EXPECT_ABT(ABT_ERR_INV_TIMER, ABT_timer_start(t));
  EXPECT_ABT(ABT_ERR_INV_TIMER, ABT_timer_stop(t));
  EXPECT_ABT(ABT_ERR_INV_TIMER, ABT_timer_read(t, &seconds));
  EXPECT_ABT(ABT_ERR_INV_TIMER, ABT_timer_stop_and_read(t, &seconds));
  EXPECT_ABT(ABT_ERR_INV_TIMER, ABT_timer_stop_and_add(t, &seconds));
  EXPECT_ABT(ABT_ERR_INV_TIMER, ABT_timer_dup(t, &copy));
}

} // namespace
