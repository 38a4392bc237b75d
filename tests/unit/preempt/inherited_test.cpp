// SPDX-License-Identifier: MIT
// What a preemptible thread forks, its loops' pieces and the members of its groups are preempted as it is:
// each computes here until another thread of the only worker has run, which it would never do else.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <vector>

#include "tests/unit/preempt/fixture.hpp"
#include "weft/fork_join.hpp"
#include "weft/os/clock.hpp"
#include "weft/parallel.hpp"
#include "weft/task_group.hpp"

namespace weft::test {
namespace {

constexpr std::int64_t given_up = 60'000'000'000; // in ns

class inherited : public ticked_at_a_place {
 protected:
  void compute() const {
    const std::int64_t end = os::now_ns() + given_up;
    while (!other_ran_ && os::now_ns() < end) {
    }
  }
  // In a thread of the kind, beside one that is ready and cooperative.
  void expect_preempted(const std::function<void()>& form) {
    thread_attributes a;
    a.preemption = GetParam().kind;
    thread(a, [&] {
      thread other([this] { other_ran_ = true; });
      form();
      EXPECT_TRUE(other_ran_);
      other.join();
    }).join();
  }

 private:
  std::atomic<bool> other_ran_{false};
};

std::vector<place> one_worker() {
  std::vector<place> all;
  for (const preemption kind :
       {preemption::signal_yield, preemption::own_tls, preemption::own_kernel_thread, preemption::bound_tls})
    all.push_back({.kind = kind, .pools = sched::arrangement::stealing, .workers = 1});
  return all;
}
INSTANTIATE_TEST_SUITE_P(each, inherited, ::testing::ValuesIn(one_worker()),
                         ::testing::PrintToStringParamName());

TEST_P(inherited, a_forked_call) {
  expect_preempted([this] {
    auto offered = fork([this] { compute(); });
    offered.join();
  });
}

TEST_P(inherited, a_call_forked_by_a_forked_call) {
  expect_preempted([this] {
    auto offered = fork([this] {
      auto inner = fork([this] { compute(); });
      inner.join();
    });
    offered.join();
  });
}

TEST_P(inherited, a_piece_of_a_loop) {
  const auto body = [this](int i) {
    if (i != 0) // that one the thread runs itself
      compute();
  };
  expect_preempted([&body] { parallel_for(0, 4, body, 1); });
}

TEST_P(inherited, a_member_of_a_group) {
  expect_preempted([this] {
    task_group group;
    group.run([this] { compute(); });
    group.wait();
  });
}

// An exception of the call comes out of its join, as without.
TEST_P(inherited, a_forked_call_may_throw) {
  thread_attributes a;
  a.preemption = GetParam().kind;
  thread(a, [] {
    auto offered = fork([]() -> int { throw 5; });
    try {
      static_cast<void>(offered.join());
      ADD_FAILURE() << "not thrown";
    } catch (int thrown) {
      EXPECT_EQ(thrown, 5);
    }
    auto right = fork([] { return 7; });
    EXPECT_EQ(right.join(), 7);
  }).join();
}

} // namespace
} // namespace weft::test
