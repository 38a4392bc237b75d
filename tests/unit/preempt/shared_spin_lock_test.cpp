// SPDX-License-Identifier: MIT
// A spin lock that preemptible and cooperative threads share: who spins without yielding waits for ever for
// an owner that was preempted on its worker; one that yields, in whichever way, does not, nor does one whose
// owners are not preempted while they have it.
#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <string>
#include <tuple>
#include <vector>

#include "tests/unit/preempt/fixture.hpp"
#include "weft/preempt/ticks.hpp"
#include "weft/runtime.hpp"
#include "weft/thread.hpp"

namespace weft::test {
namespace {

class spin_lock_of_mine {
 public:
  bool try_lock() { return !taken_.test_and_set(std::memory_order_acquire); }
  void unlock() { taken_.clear(std::memory_order_release); }

 private:
  std::atomic_flag taken_;
};

void yield_to_weft() {
  this_thread::yield();
}
void yield_to_libc() {
  EXPECT_EQ(::sched_yield(), 0);
}

struct way_to_yield {
  const char* name;
  void (*yield)();
};
constexpr way_to_yield ways[] = {{"yield", &yield_to_weft}, {"sched_yield", &yield_to_libc}};

thread_attributes of_kind(preemption kind) {
  thread_attributes a;
  a.preemption = kind;
  return a;
}

const auto all_kinds = ::testing::Values(preemption::signal_yield, preemption::own_tls,
                                         preemption::own_kernel_thread, preemption::bound_tls);

// --- by hand, on one worker ---

class shared_spin_lock : public ticked_by_hand {
 protected:
  // A preemptible thread has the lock when its tick comes; then a cooperative one runs f().
  template <class F>
  void beside_the_owner(F f) {
    bool locked = false;
    thread owner(of_kind(GetParam()), [&] {
      ASSERT_TRUE(lock_.try_lock());
      locked = true;
      preempt::tick_self();
      lock_.unlock();
    });
    thread cooperative([&] {
      while (!locked)
        this_thread::yield();
      f();
    });
    owner.join();
    cooperative.join();
  }

  spin_lock_of_mine lock_;
};

INSTANTIATE_TEST_SUITE_P(each, shared_spin_lock, all_kinds,
                         [](const auto& info) { return name_of(info.param); });

// The deadlock of which the guide warns, given up after a while.
TEST_P(shared_spin_lock, is_never_had_by_who_does_not_yield) {
  beside_the_owner([this] {
    constexpr int given_up_after = 1'000'000;
    for (int i = 0; i < given_up_after; ++i)
      ASSERT_FALSE(lock_.try_lock());
    ASSERT_EQ(::sched_yield(), 0); // the kernel's: no other thread of Weft runs
    ASSERT_FALSE(lock_.try_lock());
  });
}

TEST_P(shared_spin_lock, is_had_by_who_yields) {
  beside_the_owner([this] {
    int turns = 0;
    for (; !lock_.try_lock(); ++turns)
      this_thread::yield();
    EXPECT_GT(turns, 0);
    lock_.unlock();
  });
}

TEST_P(shared_spin_lock, is_had_by_whose_sched_yield_switches) {
  beside_the_owner([this] {
    this_thread::let_sched_yield_switch(true);
    int turns = 0;
    for (; !lock_.try_lock(); ++turns)
      ASSERT_EQ(::sched_yield(), 0);
    EXPECT_GT(turns, 0);
    lock_.unlock();
  });
}

TEST_P(shared_spin_lock, is_never_met_locked_where_owners_are_not_preempted) {
  bool ticked = false;
  thread owner(of_kind(GetParam()), [&] {
    const no_preemption until_the_end_of_the_scope;
    ASSERT_TRUE(lock_.try_lock());
    preempt::tick_self();
    ticked = true;
    lock_.unlock();
  });
  thread cooperative([&] {
    while (!ticked) {
      ASSERT_TRUE(lock_.try_lock());
      lock_.unlock();
      this_thread::yield();
    }
  });
  owner.join();
  cooperative.join();
}

// --- under ticks ---

class contended_spin_lock : public ::testing::TestWithParam<std::tuple<preemption, unsigned, way_to_yield>> {
};

INSTANTIATE_TEST_SUITE_P(each, contended_spin_lock,
                         ::testing::Combine(all_kinds, ::testing::Values(1U, 2U), ::testing::ValuesIn(ways)),
                         [](const auto& info) {
                           return std::string(name_of(std::get<0>(info.param))) + "_workers_" +
                                  std::to_string(std::get<1>(info.param)) + "_" +
                                  std::get<2>(info.param).name;
                         });

TEST_P(contended_spin_lock, of_both_kinds_of_threads_excludes_and_everybody_gets_it) {
  const auto& [kind, workers, way] = GetParam();
  if (!can_preempt(kind))
    GTEST_SKIP() << "not on this machine";
  ticked_runtime ticked;
  ticked.start(sched::arrangement::stealing, workers, std::chrono::microseconds(200));
  constexpr int threads = 8; // every second one is preemptible
  constexpr long rounds = 100;
  spin_lock_of_mine lock;
  long counted = 0;
  std::vector<thread> all;
  for (int t = 0; t < threads; ++t) {
    all.emplace_back(t % 2 == 0 ? of_kind(kind) : thread_attributes(), [&, t, yield = way.yield] {
      if (t % 2 != 0)
        this_thread::let_sched_yield_switch(true);
      // Preemptible ones go on until one has been preempted.
      for (long round = 0; round < rounds || (t % 2 == 0 && ticked.preemptions() == 0); ++round) {
        while (!lock.try_lock())
          yield();
        const long seen = counted;
        for (int i = 0; i < 5000; ++i)
          asm volatile("");
        counted = round < rounds ? seen + 1 : seen;
        lock.unlock();
      }
    });
  }
  for (thread& t : all)
    t.join();
  EXPECT_EQ(counted, threads * rounds);
  ticked.stop();
}

} // namespace
} // namespace weft::test
