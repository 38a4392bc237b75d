// SPDX-License-Identifier: MIT
// Mutexes that know their owner, held by threads that are preempted and waited for in the kernel: error
// checking and robust ones, whose owner is who the TLS block says; and priority-inheriting ones, whose owner
// is the kernel thread that the kernel sees waiting and unlocking. The last are for own_kernel_thread alone:
// on the TLS block of another kernel thread the unlock of one that is waited for does nothing, which glibc
// does not report. Not promised either: that own_tls and own_kernel_thread hold any of these across a call
// of Weft, after which the thread may be on another block, or kernel thread.
#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <string>
#include <vector>

#include "tests/unit/preempt/fixture.hpp"
#include "weft/os/clock.hpp"
#include "weft/runtime.hpp"
#include "weft/thread.hpp"

namespace weft::test {
namespace {

class owned_mutex {
 public:
  struct shape {
    int type = PTHREAD_MUTEX_NORMAL;
    int protocol = PTHREAD_PRIO_NONE;
    int robustness = PTHREAD_MUTEX_STALLED;
  };
  explicit owned_mutex(shape wanted) {
    pthread_mutexattr_t a;
    pthread_mutexattr_init(&a);
    pthread_mutexattr_settype(&a, wanted.type);
    EXPECT_EQ(pthread_mutexattr_setprotocol(&a, wanted.protocol), 0);
    EXPECT_EQ(pthread_mutexattr_setrobust(&a, wanted.robustness), 0);
    EXPECT_EQ(pthread_mutex_init(&m_, &a), 0);
    pthread_mutexattr_destroy(&a);
  }
  ~owned_mutex() { EXPECT_EQ(pthread_mutex_destroy(&m_), 0); }
  owned_mutex(const owned_mutex&) = delete;
  owned_mutex& operator=(const owned_mutex&) = delete;
  int lock() { return pthread_mutex_lock(&m_); }
  int try_lock() { return pthread_mutex_trylock(&m_); }
  int unlock() { return pthread_mutex_unlock(&m_); }
  int make_consistent() { return pthread_mutex_consistent(&m_); }

 private:
  pthread_mutex_t m_;
};
constexpr owned_mutex::shape checking{.type = PTHREAD_MUTEX_ERRORCHECK};
constexpr owned_mutex::shape robust{.type = PTHREAD_MUTEX_ERRORCHECK, .robustness = PTHREAD_MUTEX_ROBUST};
constexpr owned_mutex::shape inheriting{.type = PTHREAD_MUTEX_ERRORCHECK, .protocol = PTHREAD_PRIO_INHERIT};
constexpr owned_mutex::shape robust_and_inheriting{
    .type = PTHREAD_MUTEX_ERRORCHECK, .protocol = PTHREAD_PRIO_INHERIT, .robustness = PTHREAD_MUTEX_ROBUST};

// --- under ticks ---

const std::vector<place> places =
    two_places_of_each({preemption::own_tls, preemption::own_kernel_thread, preemption::bound_tls});

class hazards_locks : public ticked_at_a_place {
 protected:
  static constexpr int threads = 6;
  static constexpr std::int64_t length = 100'000'000; // of a stress, in ns

  [[nodiscard]] bool somebody_waited_for_a_preempted_one() const {
    return runtime_.preemptions() != 0 && runtime_.workers_let_go() != 0;
  }
  // All take it in turn until the time is over, with errors asked for on the way.
  void exclude_each_other(owned_mutex::shape wanted) {
    owned_mutex m(wanted);
    std::atomic<int> inside{0};
    long rounds = 0;
    std::atomic<long> counted{0};
    thread_attributes a;
    a.preemption = GetParam().kind;
    const std::int64_t end = os::now_ns() + length;
    std::vector<thread> all;
    for (int t = 0; t < threads; ++t) {
      all.emplace_back(a, [&, end] {
        while (os::now_ns() < end || !somebody_waited_for_a_preempted_one()) {
          EXPECT_EQ(m.unlock(), EPERM); // another's, or nobody's
          ASSERT_EQ(m.lock(), 0);
          EXPECT_EQ(inside.fetch_add(1), 0);
          EXPECT_EQ(m.lock(), EDEADLK);
          ++rounds;
          for (int i = 0; i < 2000; ++i)
            asm volatile("");
          EXPECT_EQ(inside.fetch_sub(1), 1);
          EXPECT_EQ(m.unlock(), 0);
          ++counted;
        }
      });
    }
    for (thread& t : all)
      t.join();
    EXPECT_EQ(rounds, counted);
  }
};

INSTANTIATE_TEST_SUITE_P(each, hazards_locks, ::testing::ValuesIn(places),
                         ::testing::PrintToStringParamName());

TEST_P(hazards_locks, an_error_checking_mutex_tells_its_owner_from_others) {
  exclude_each_other(checking);
}

TEST_P(hazards_locks, a_robust_mutex_excludes) {
  exclude_each_other(robust);
}

TEST_P(hazards_locks, a_priority_inheriting_mutex_excludes) {
  if (GetParam().kind != preemption::own_kernel_thread)
    GTEST_SKIP() << "the kernel takes the thread for the one that runs it";
  exclude_each_other(inheriting);
  exclude_each_other(robust_and_inheriting);
}

// --- one preemption, by hand, where it hurts ---

class owner_of_a_lock : public ticked_by_hand {
 protected:
  // What another thread of the kind gets to hear while the owner is preempted.
  struct answers {
    int lock = -1, unlock = -1, owners_unlock = -1;
  };
  static answers ask_beside_the_owner(owned_mutex::shape wanted) {
    owned_mutex m(wanted);
    answers heard;
    bool both_made = false, held = false; // to make a thread may take a yield
    thread owner(attributes(), [&] {
      while (!both_made)
        this_thread::yield();
      EXPECT_EQ(m.lock(), 0);
      held = true;
      preempt::tick_self();
      heard.owners_unlock = m.unlock();
    });
    thread other(attributes(), [&] {
      while (!held)
        this_thread::yield();
      heard.lock = m.try_lock();
      if (heard.lock == EBUSY && GetParam() == preemption::signal_yield)
        heard.lock = m.lock(); // a lock that takes it for its owner does not wait
      heard.unlock = m.unlock();
    });
    both_made = true;
    owner.join();
    other.join();
    return heard;
  }
  static void expect_the_owner_is_known(owned_mutex::shape wanted) {
    const answers heard = ask_beside_the_owner(wanted);
    EXPECT_EQ(heard.lock, EBUSY);
    EXPECT_EQ(heard.unlock, EPERM);
    EXPECT_EQ(heard.owners_unlock, 0);
  }
  static void expect_the_other_is_taken_for_it(owned_mutex::shape wanted) {
    const answers heard = ask_beside_the_owner(wanted);
    EXPECT_EQ(heard.lock, EDEADLK);
    EXPECT_EQ(heard.unlock, 0);
    EXPECT_EQ(heard.owners_unlock, EPERM);
  }
};

INSTANTIATE_TEST_SUITE_P(each, owner_of_a_lock,
                         ::testing::Values(preemption::signal_yield, preemption::own_tls,
                                           preemption::own_kernel_thread, preemption::bound_tls),
                         [](const auto& info) { return name_of(info.param); });

TEST_P(owner_of_a_lock, is_the_thread_and_with_signal_yield_whoever_runs_there) {
  for (const owned_mutex::shape shape : {checking, robust, inheriting, robust_and_inheriting}) {
    if (GetParam() == preemption::signal_yield)
      expect_the_other_is_taken_for_it(shape);
    else
      expect_the_owner_is_known(shape);
  }
}

// The block's kernel thread ends with the thread, and the kernel marks what it held.
TEST_P(owner_of_a_lock, that_ends_is_reported_with_bound_tls) {
  if (GetParam() != preemption::bound_tls)
    GTEST_SKIP() << "what the others hold goes with a kernel thread that lives on";
  owned_mutex m(robust);
  thread ends(attributes(), [&m] {
    EXPECT_EQ(m.lock(), 0);
    this_thread::yield(); // the block stays its own
  });
  ends.join();
  thread next(attributes(), [&m] {
    EXPECT_EQ(m.lock(), EOWNERDEAD);
    EXPECT_EQ(m.make_consistent(), 0);
    EXPECT_EQ(m.unlock(), 0);
  });
  next.join();
}

} // namespace
} // namespace weft::test
