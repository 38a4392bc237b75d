// SPDX-License-Identifier: MIT
// setuid(2): libc has each of its kernel threads make it, by a signal, and waits until each has noted so in
// its block. Beside threads that compute on blocks of their own it must end, whoever calls it.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <vector>

#include "tests/unit/preempt/fixture.hpp"
#include "weft/thread.hpp"

namespace weft::test {
namespace {

class set_user : public ::testing::TestWithParam<preemption> {
 protected:
  void SetUp() override {
    if (GetParam() != preemption::none && !can_preempt(GetParam()))
      GTEST_SKIP() << "not on this machine";
    runtime_.start(sched::arrangement::stealing, 2, std::chrono::microseconds(100));
  }
  void TearDown() override { runtime_.stop(); }

  // f() in a thread of the kind, beside some of `others` that never call anything.
  template <class F>
  void beside(preemption others, F f) {
    if (!can_preempt(others))
      return;
    thread_attributes a;
    a.preemption = others;
    std::atomic<bool> over{false};
    std::vector<thread> all;
    for (int t = 0; t < 4; ++t) {
      all.emplace_back(a, [&over] {
        while (!over) {
        }
      });
    }
    a.preemption = GetParam();
    thread(a, f).join();
    over = true;
    for (thread& t : all)
      t.join();
  }

  ticked_runtime runtime_;
};

INSTANTIATE_TEST_SUITE_P(each, set_user,
                         ::testing::Values(preemption::none, preemption::signal_yield, preemption::own_tls,
                                           preemption::own_kernel_thread, preemption::bound_tls),
                         [](const auto& info) { return name_of(info.param); });

TEST_P(set_user, ends_beside_threads_on_blocks_of_their_own) {
  for (const preemption others : {preemption::own_tls, preemption::bound_tls}) {
    beside(others, [] {
      for (int round = 0; round < 5; ++round)
        EXPECT_EQ(::setuid(::getuid()), 0);
    });
  }
}

} // namespace
} // namespace weft::test
