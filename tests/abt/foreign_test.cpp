// SPDX-License-Identifier: MIT
// Kernel threads that the runtime does not know wait, wake, join and push like anyone else; also when signals
// interrupt them every 100 us, with and without SA_RESTART. In /proc one sees whether they really wait.
#include <csignal>
#include <fstream>

#include <sys/time.h>
#include <unistd.h>

#include "sync.hpp"

using namespace abt_test;

#ifndef sigev_notify_thread_id // glibc before 2.36
#define sigev_notify_thread_id _sigev_un._tid
#endif

namespace {

enum class storm { none, restarting, interrupting };

std::atomic<long> struck = 0;
void strike(int) {
  struck.fetch_add(1, std::memory_order_relaxed);
}

constexpr int each_us = 100;

// Signals to the process while it lives: they reach the streams.
class process_storm {
 public:
  explicit process_storm(storm kind) : kind_(kind) {
    if (kind_ == storm::none)
      return;
    struct sigaction action{};
    action.sa_handler = strike;
    action.sa_flags = kind_ == storm::restarting ? SA_RESTART : 0;
    EXPECT_EQ(0, ::sigaction(SIGALRM, &action, &before_));
    const itimerval each = {{0, each_us}, {0, each_us}};
    EXPECT_EQ(0, ::setitimer(ITIMER_REAL, &each, nullptr));
    const long start = struck;
    while (struck == start)
      std::this_thread::yield();
  }
  ~process_storm() {
    if (kind_ == storm::none)
      return;
    const itimerval never = {};
    EXPECT_EQ(0, ::setitimer(ITIMER_REAL, &never, nullptr));
    std::signal(SIGALRM, SIG_IGN); // drops one that is on its way
    EXPECT_EQ(0, ::sigaction(SIGALRM, &before_, nullptr));
  }
  process_storm(const process_storm&) = delete;
  process_storm& operator=(const process_storm&) = delete;

 private:
  const storm kind_;
  struct sigaction before_{};
};

// Signals to the calling kernel thread, also while it sleeps.
class thread_storm {
 public:
  explicit thread_storm(storm kind) : on_(kind != storm::none) {
    if (!on_)
      return;
    sigevent event{};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = SIGALRM;
    event.sigev_notify_thread_id = ::gettid();
    EXPECT_EQ(0, ::timer_create(CLOCK_MONOTONIC, &event, &timer_));
    const itimerspec each = {{0, each_us * 1000}, {0, each_us * 1000}};
    EXPECT_EQ(0, ::timer_settime(timer_, 0, &each, nullptr));
  }
  ~thread_storm() {
    if (on_) {
      EXPECT_EQ(0, ::timer_delete(timer_));
    }
  }
  thread_storm(const thread_storm&) = delete;
  thread_storm& operator=(const thread_storm&) = delete;

 private:
  const bool on_;
  timer_t timer_{};
};

// A foreign kernel thread in a storm of its own.
class foreign {
 public:
  foreign(storm kind, body f)
      : thread_([this, kind, f = std::move(f)] {
          {
            const thread_storm s(kind);
            id_ = ::gettid();
            f();
          }
          done_ = true;
        }) {}
  ~foreign() {
    yield_until([this] { return done_.load(); });
    thread_.join();
  }
  foreign(const foreign&) = delete;
  foreign& operator=(const foreign&) = delete;

  bool done() const { return done_; }
  // Until the kernel says that it sleeps.
  void until_asleep() const {
    yield_until([this] { return done_ || (id_ != 0 && state() == 'S'); });
    EXPECT_FALSE(done_) << "it did not wait";
  }

 private:
  char state() const {
    std::ifstream file("/proc/self/task/" + std::to_string(id_) + "/stat");
    std::string text;
    std::getline(file, text);
    const std::size_t end = text.rfind(')'); // of the name, which may hold anything
    return end + 2 < text.size() ? text[end + 2] : '?';
  }

  std::atomic<int> id_ = 0;
  std::atomic<bool> done_ = false;
  std::thread thread_; // last: it uses the others
};

class foreign_threads : public ::testing::TestWithParam<storm> {
 protected:
  void SetUp() override {
    storm_ = std::make_unique<process_storm>(GetParam());
    runtime_ = std::make_unique<runtime>();
    streams_ = std::make_unique<streams>(1);
  }
  void TearDown() override {
    streams_.reset();
    runtime_.reset();
    storm_.reset();
  }

  std::unique_ptr<foreign> start(body f) const { return std::make_unique<foreign>(GetParam(), std::move(f)); }
  ABT_pool other_pool() const { return streams_->pool(0); }

  // Three of them next to ULTs of two streams.
  void together(const body& f) const {
    const std::array all = {start(f), start(f), start(f)};
    crowd c;
    c.ults(2, f);
    c.ults(2, f, other_pool());
  }
  static constexpr int together_count = 7;

 private:
  std::unique_ptr<process_storm> storm_;
  std::unique_ptr<runtime> runtime_;
  std::unique_ptr<streams> streams_;
};

std::string name_of_storm(const ::testing::TestParamInfo<storm>& info) {
  constexpr std::array names = {"calm", "SA_RESTART", "without_SA_RESTART"};
  return names[static_cast<std::size_t>(info.param)];
}
INSTANTIATE_TEST_SUITE_P(storms, foreign_threads,
                         ::testing::Values(storm::none, storm::restarting, storm::interrupting),
                         name_of_storm);

TEST_P(foreign_threads, lock_mutexes) {
  constexpr int rounds = 100;
  ABT_mutex m = ABT_MUTEX_NULL;
  ASSERT_OK(ABT_mutex_create(&m));
  EXPECT_OK(ABT_mutex_lock(m));
  long count = 0;
  {
    const auto waiter = start([&] {
      EXPECT_OK(ABT_mutex_lock(m));
      ++count;
      EXPECT_OK(ABT_mutex_unlock(m));
    });
    waiter->until_asleep();
    EXPECT_EQ(count, 0);
    EXPECT_OK(ABT_mutex_unlock(m));
  }
  EXPECT_EQ(count, 1);
  std::atomic<bool> locked = false;
  {
    crowd c; // a ULT waits for what a foreign thread has
    const auto owner = start([&] {
      EXPECT_OK(ABT_mutex_lock(m));
      locked = true;
      while (locked) // until the ULT is seen to wait
        std::this_thread::yield();
      EXPECT_OK(ABT_mutex_unlock(m));
    });
    yield_until([&] { return locked.load(); });
    c.ults(1, [&] {
      EXPECT_OK(ABT_mutex_lock(m));
      ++count;
      EXPECT_OK(ABT_mutex_unlock(m));
    });
    until_blocked(c.ult(0));
    locked = false;
  }
  EXPECT_EQ(count, 2);
  together([&] {
    for (int i = 0; i < rounds; ++i) {
      EXPECT_OK(ABT_mutex_lock(m));
      const long before = count;
      ABT_thread_yield();
      count = before + 1;
      EXPECT_OK(ABT_mutex_unlock(m));
    }
  });
  EXPECT_EQ(count, 2 + together_count * rounds);
  EXPECT_OK(ABT_mutex_free(&m));
}

TEST_P(foreign_threads, wait_for_conditions) {
  ABT_mutex m = ABT_MUTEX_NULL;
  ABT_cond c = ABT_COND_NULL;
  ASSERT_OK(ABT_mutex_create(&m));
  ASSERT_OK(ABT_cond_create(&c));
  int phase = 0;
  const auto read_phase = [&] {
    EXPECT_OK(ABT_mutex_lock(m));
    const int now = phase;
    EXPECT_OK(ABT_mutex_unlock(m));
    return now;
  };
  {
    const auto waiter = start([&] { // a signal of the system's is none of the condition's
      EXPECT_OK(ABT_mutex_lock(m));
      phase = 1;
      EXPECT_OK(ABT_cond_wait(c, m));
      phase = 2;
      const timespec at = far();
      EXPECT_OK(ABT_cond_timedwait(c, m, &at));
      phase = 3;
      EXPECT_OK(ABT_mutex_unlock(m));
    });
    for (int i = 1; i <= 2; ++i) {
      yield_until([&] { return read_phase() == i; });
      waiter->until_asleep();
      EXPECT_EQ(read_phase(), i);
      EXPECT_OK(ABT_cond_signal(c));
    }
  }
  EXPECT_EQ(phase, 3);
  int turn = 0; // everybody waits for the one before
  std::atomic<int> next = 0;
  together([&] {
    const int me = next++;
    for (int i = 0; i < 20; ++i) {
      EXPECT_OK(ABT_mutex_lock(m));
      while (turn % together_count != me)
        EXPECT_OK(ABT_cond_wait(c, m));
      ++turn;
      EXPECT_OK(ABT_mutex_unlock(m));
      EXPECT_OK(ABT_cond_broadcast(c));
    }
  });
  EXPECT_EQ(turn, 20 * together_count);
  EXPECT_OK(ABT_cond_free(&c));
  EXPECT_OK(ABT_mutex_free(&m));
}

TEST_P(foreign_threads, wait_as_long_as_they_said) {
  ABT_mutex m = ABT_MUTEX_NULL;
  ABT_cond c = ABT_COND_NULL;
  ABT_eventual e = ABT_EVENTUAL_NULL;
  ASSERT_OK(ABT_mutex_create(&m));
  ASSERT_OK(ABT_cond_create(&c));
  ASSERT_OK(ABT_eventual_create(0, &e));
  together([&] {
    for (int i = 0; i < 3; ++i) {
      timespec at = after(5e-3);
      EXPECT_OK(ABT_mutex_lock(m));
      EXPECT_ABT(ABT_ERR_COND_TIMEDOUT, ABT_cond_timedwait(c, m, &at));
      EXPECT_OK(ABT_mutex_unlock(m));
      EXPECT_TRUE(reached(at));
      at = after(5e-3);
      EXPECT_ABT(ABT_ERR_COND_TIMEDOUT, ABT_eventual_timedwait(e, nullptr, &at));
      EXPECT_TRUE(reached(at));
    }
  });
  EXPECT_OK(ABT_eventual_free(&e));
  EXPECT_OK(ABT_cond_free(&c));
  EXPECT_OK(ABT_mutex_free(&m));
}

TEST_P(foreign_threads, wait_for_eventuals) {
  ABT_eventual to = ABT_EVENTUAL_NULL;
  ABT_eventual back = ABT_EVENTUAL_NULL;
  ASSERT_OK(ABT_eventual_create(sizeof(int), &to));
  ASSERT_OK(ABT_eventual_create(sizeof(int), &back));
  for (int i = 0; i < 20; ++i) {
    const auto waiter = start([&] {
      void* value = nullptr;
      EXPECT_OK(ABT_eventual_wait(to, &value));
      int answer = *static_cast<int*>(value) + 1;
      EXPECT_OK(ABT_eventual_set(back, &answer, sizeof answer));
    });
    waiter->until_asleep();
    EXPECT_OK(ABT_eventual_set(to, &i, sizeof i));
    void* value = nullptr;
    EXPECT_OK(ABT_eventual_wait(back, &value));
    EXPECT_EQ(*static_cast<int*>(value), i + 1);
    EXPECT_OK(ABT_eventual_reset(to));
    EXPECT_OK(ABT_eventual_reset(back));
  }
  EXPECT_OK(ABT_eventual_free(&to));
  EXPECT_OK(ABT_eventual_free(&back));
}

TEST_P(foreign_threads, wait_for_futures) {
  ABT_future to = ABT_FUTURE_NULL;
  ABT_future back = ABT_FUTURE_NULL;
  ASSERT_OK(ABT_future_create(2, nullptr, &to));
  ASSERT_OK(ABT_future_create(1, nullptr, &back));
  for (int i = 0; i < 20; ++i) {
    const auto waiter = start([&] {
      EXPECT_OK(ABT_future_wait(to));
      EXPECT_OK(ABT_future_set(back, nullptr));
    });
    EXPECT_OK(ABT_future_set(to, nullptr));
    waiter->until_asleep();
    EXPECT_OK(ABT_future_set(to, nullptr));
    EXPECT_OK(ABT_future_wait(back));
    EXPECT_OK(ABT_future_reset(to));
    EXPECT_OK(ABT_future_reset(back));
  }
  EXPECT_OK(ABT_future_free(&to));
  EXPECT_OK(ABT_future_free(&back));
}

TEST_P(foreign_threads, meet_at_barriers) {
  constexpr int rounds = 50;
  ABT_barrier b = ABT_BARRIER_NULL;
  ASSERT_OK(ABT_barrier_create(2, &b));
  {
    const auto waiter = start([&] { EXPECT_OK(ABT_barrier_wait(b)); });
    waiter->until_asleep();
    EXPECT_OK(ABT_barrier_wait(b));
  }
  EXPECT_OK(ABT_barrier_reinit(b, together_count));
  std::atomic<int> arrived = 0;
  together([&] {
    for (int i = 0; i < rounds; ++i) {
      ++arrived;
      EXPECT_OK(ABT_barrier_wait(b));
      EXPECT_GE(arrived, (i + 1) * together_count);
      EXPECT_LT(arrived, (i + 2) * together_count);
    }
  });
  EXPECT_EQ(arrived, rounds * together_count);
  EXPECT_OK(ABT_barrier_free(&b));
}

TEST_P(foreign_threads, stop_at_xstream_barriers) {
  constexpr int rounds = 50;
  ABT_xstream_barrier b = ABT_XSTREAM_BARRIER_NULL;
  ASSERT_OK(ABT_xstream_barrier_create(3, &b));
  std::atomic<int> arrived = 0;
  const body walk = [&] {
    for (int i = 0; i < rounds; ++i) {
      ++arrived;
      EXPECT_OK(ABT_xstream_barrier_wait(b));
      EXPECT_GE(arrived, (i + 1) * 3);
      EXPECT_LT(arrived, (i + 2) * 3);
    }
  };
  {
    const std::array waiters = {start(walk), start(walk)};
    in_thread(walk, other_pool());
  }
  EXPECT_EQ(arrived, rounds * 3);
  EXPECT_OK(ABT_xstream_barrier_free(&b));
}

TEST_P(foreign_threads, take_rwlocks) {
  constexpr int rounds = 50;
  ABT_rwlock l = ABT_RWLOCK_NULL;
  ASSERT_OK(ABT_rwlock_create(&l));
  for (auto* lock : {ABT_rwlock_rdlock, ABT_rwlock_wrlock}) {
    EXPECT_OK(ABT_rwlock_wrlock(l));
    const auto waiter = start([&, lock] {
      EXPECT_OK(lock(l));
      EXPECT_OK(ABT_rwlock_unlock(l));
    });
    waiter->until_asleep();
    EXPECT_OK(ABT_rwlock_unlock(l));
  }
  long first = 0;
  long second = 0;
  together([&] {
    for (int i = 0; i < rounds; ++i) {
      EXPECT_OK(ABT_rwlock_wrlock(l));
      const long before = first;
      first = before + 1;
      ABT_thread_yield();
      second = before + 1;
      EXPECT_OK(ABT_rwlock_unlock(l));
      EXPECT_OK(ABT_rwlock_rdlock(l));
      EXPECT_EQ(first, second);
      EXPECT_OK(ABT_rwlock_unlock(l));
    }
  });
  EXPECT_EQ(first, rounds * together_count);
  EXPECT_OK(ABT_rwlock_free(&l));
}

TEST_P(foreign_threads, join_units) {
  ABT_eventual go = ABT_EVENTUAL_NULL;
  ASSERT_OK(ABT_eventual_create(0, &go));
  for (const bool free_at_once : {false, true}) {
    std::atomic<bool> ran = false;
    body f = [&] {
      EXPECT_OK(ABT_eventual_wait(go, nullptr));
      ran = true;
    };
    ABT_thread t = ABT_THREAD_NULL;
    ASSERT_OK(ABT_thread_create(other_pool(), run_function, &f, ABT_THREAD_ATTR_NULL, &t));
    {
      const auto joiner = start([&] {
        if (!free_at_once) {
          EXPECT_OK(ABT_thread_join(t));
          EXPECT_TRUE(ran);
        }
        EXPECT_OK(ABT_thread_free(&t));
        EXPECT_TRUE(ran);
        EXPECT_EQ(t, ABT_THREAD_NULL);
      });
      joiner->until_asleep();
      EXPECT_FALSE(ran);
      EXPECT_OK(ABT_eventual_set(go, nullptr, 0));
    }
    EXPECT_OK(ABT_eventual_reset(go));
  }
  EXPECT_OK(ABT_eventual_free(&go));
}

TEST_P(foreign_threads, make_and_join_streams) {
  const auto maker = start([] {
    for (int i = 0; i < 5; ++i) {
      ABT_xstream es = ABT_XSTREAM_NULL;
      ASSERT_OK(ABT_xstream_create(ABT_SCHED_NULL, &es));
      std::atomic<int> ran = 0;
      body f = [&] { ++ran; };
      ABT_thread t = ABT_THREAD_NULL;
      EXPECT_OK(ABT_thread_create_on_xstream(es, run_function, &f, ABT_THREAD_ATTR_NULL, &t));
      EXPECT_OK(ABT_xstream_join(es)); // it empties its pools first
      EXPECT_EQ(ran, 1);
      EXPECT_OK(ABT_thread_free(&t));
      EXPECT_OK(ABT_xstream_free(&es));
    }
  });
}

// Made, popped and pushed from outside while the streams pop them.
TEST_P(foreign_threads, push_units) {
  constexpr int each = 200;
  ABT_pool waiting = ABT_POOL_NULL; // nobody serves it
  ASSERT_OK(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_FALSE, &waiting));
  const ABT_pool served = other_pool();
  std::atomic<int> ran = 0;
  body f = [&] {
    ABT_thread_yield();
    ++ran;
  };
  body short_one = [&] { ++ran; };
  std::atomic<int> pushed = 0;
  const body push = [&] {
    std::vector<ABT_thread> all;
    for (int i = 0; i < each; ++i) {
      ABT_thread t = ABT_THREAD_NULL;
      EXPECT_OK(ABT_thread_create(waiting, run_function, &f, ABT_THREAD_ATTR_NULL, &t));
      all.push_back(t);
      EXPECT_OK(ABT_task_create(served, run_function, &short_one, nullptr));
      ABT_thread popped = ABT_THREAD_NULL; // this one or somebody else's
      EXPECT_OK(ABT_pool_pop_thread(waiting, &popped));
      EXPECT_NE(popped, ABT_THREAD_NULL);
      EXPECT_OK(ABT_pool_push_thread(served, popped));
      ++pushed;
    }
    for (ABT_thread& t : all)
      EXPECT_OK(ABT_thread_free(&t));
  };
  {
    const std::array pushers = {start(push), start(push)};
  }
  yield_until([&] { return ran == 4 * each; });
  EXPECT_EQ(pushed, 2 * each);
  std::size_t left = 1;
  EXPECT_OK(ABT_pool_get_size(waiting, &left));
  EXPECT_EQ(left, 0U);
  EXPECT_OK(ABT_pool_free(&waiting));
}

TEST_P(foreign_threads, resume_ults) {
  constexpr int rounds = 100;
  crowd c;
  int woken = 0;
  c.ults(
      1,
      [&] {
        for (; woken < rounds; ++woken)
          EXPECT_OK(ABT_self_suspend());
      },
      other_pool());
  const ABT_thread t = c.ult(0);
  {
    const auto waker = start([t] {
      for (int i = 0; i < rounds; ++i) {
        while (!blocked(t))
          std::this_thread::yield();
        EXPECT_OK(ABT_thread_resume(t));
      }
    });
  }
  c.join();
  EXPECT_EQ(woken, rounds);
}

} // namespace
