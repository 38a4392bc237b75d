// SPDX-License-Identifier: MIT
// Cooperative threads and tasklets that wait in the kernel for what a preempted thread of their worker holds:
// a lock of libc's, or of the program's own. Where these do not leave the worker (leaving_test.cpp; tasklets
// never do) the owner goes on without one.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "tests/unit/preempt/fixture.hpp"
#include "weft/carrier/leaving.hpp"
#include "weft/thread.hpp"

namespace weft::test {
namespace {

// Kinds whose locks are their own while others run.
const std::vector<preemption> kinds{preemption::own_tls, preemption::own_kernel_thread,
                                    preemption::bound_tls};

class stuck_worker : public ::testing::TestWithParam<preemption> {
 protected:
  void SetUp() override {
    if (!can_preempt(GetParam()))
      GTEST_SKIP() << "not on this machine";
    sched::set_leaving(sched::leave_when::never);
    runtime_.start(sched::arrangement::pool_per_worker, 1, std::chrono::microseconds(500));
    alone_before_ = preempt::counts().let_go_alone;
  }
  void TearDown() override {
    runtime_.stop();
    sched::set_leaving(sched::leave_when::automatic);
  }
  static thread_attributes attributes() {
    thread_attributes a;
    a.preemption = GetParam();
    return a;
  }
  [[nodiscard]] std::size_t let_go_alone() const { return preempt::counts().let_go_alone - alone_before_; }

  // Preempted while it has the lock, for as long as nobody waits for it in vain.
  thread owner_of(std::mutex& m, bool& held) {
    return thread(attributes(), [&] {
      const std::scoped_lock mine(m);
      held = true;
      preempt::tick_self();
    });
  }
  static void wait_for(const bool& held) {
    while (!held)
      this_thread::yield();
  }

  ticked_runtime runtime_;
  std::size_t alone_before_ = 0;
};
INSTANTIATE_TEST_SUITE_P(each, stuck_worker, ::testing::ValuesIn(kinds),
                         [](const auto& kind) { return name_of(kind.param); });

TEST_P(stuck_worker, the_primary_thread_gets_a_lock_whose_owner_was_preempted) {
  std::mutex m;
  bool held = false;
  thread owner = owner_of(m, held);
  wait_for(held);
  m.lock();
  m.unlock();
  owner.join();
  EXPECT_GE(let_go_alone(), 1U);
}

TEST_P(stuck_worker, a_cooperative_thread_gets_it) {
  std::mutex m;
  bool held = false;
  thread owner = owner_of(m, held);
  wait_for(held);
  thread([&] { const std::scoped_lock mine(m); }).join();
  owner.join();
  EXPECT_GE(let_go_alone(), 1U);
}

TEST_P(stuck_worker, a_tasklet_gets_it) {
  std::mutex m;
  bool held = false, got = false;
  thread owner = owner_of(m, held);
  wait_for(held);
  tasklet([&] {
    const std::scoped_lock mine(m);
    got = true;
  }).join();
  owner.join();
  EXPECT_TRUE(got);
  EXPECT_GE(let_go_alone(), 1U);
}

// The owner stands behind others that only compute, and these come back for the worker when their time is
// over.
TEST_P(stuck_worker, all_that_are_ready_have_their_turn) {
  constexpr int spinners = 5;
  std::mutex m;
  bool held = false;
  std::atomic<bool> done{false};
  std::vector<thread> others;
  for (int i = 0; i < spinners; ++i) {
    others.emplace_back(attributes(), [&] {
      while (!done)
        asm volatile("");
    });
  }
  thread owner = owner_of(m, held);
  wait_for(held);
  m.lock();
  m.unlock();
  done = true;
  for (thread& t : others)
    t.join();
  owner.join();
  EXPECT_GE(let_go_alone(), 1U);
}

// One that is alone and calls Weft waits for the worker, and what it does there it does on it.
TEST_P(stuck_worker, who_goes_on_alone_comes_back_when_it_calls_weft) {
  std::mutex m;
  bool held = false;
  int counted = 0;
  thread owner(attributes(), [&] {
    for (int round = 0; round < 20; ++round) {
      {
        const std::scoped_lock mine(m);
        held = true;
        preempt::tick_self();
        ++counted;
      }
      held = false;
      this_thread::yield();
    }
  });
  for (int round = 0; round < 20; ++round) {
    if (held) {
      const std::scoped_lock mine(m);
      EXPECT_NE(counted, 0);
    }
    this_thread::yield();
  }
  owner.join();
  EXPECT_EQ(counted, 20);
}

// malloc's own locks, for as long as it takes.
TEST_P(stuck_worker, all_kinds_of_threads_use_malloc_on_one_worker) {
  constexpr std::int64_t length = 300'000'000; // ns
  const std::int64_t end = os::now_ns() + length;
  const auto allocate = [&] {
    std::vector<std::unique_ptr<char[]>> kept(64);
    unsigned at = 0;
    while (os::now_ns() < end) {
      for (unsigned i = 0; i < 200; ++i, ++at) // beyond what malloc keeps for each kernel thread
        kept[at % kept.size()] = std::make_unique<char[]>(1100 + at % 4096);
      this_thread::yield();
    }
  };
  std::vector<thread> all;
  for (int i = 0; i < 4; ++i) {
    all.emplace_back(attributes(), allocate);
    all.emplace_back(allocate);
  }
  for (thread& t : all)
    t.join();
}

} // namespace
} // namespace weft::test
