// SPDX-License-Identifier: MIT
// valgrind delivers signals when it likes, and sets no thread pointer: nobody is preempted there.
#include <gtest/gtest.h>

#include <mutex>
#include <vector>

#include "tests/unit/preempt/fixture.hpp"
#include "weft/memory/annotate.hpp"
#include "weft/mutex.hpp"
#include "weft/preempt/donors.hpp"
#include "weft/preempt/spares.hpp"
#include "weft/runtime.hpp"
#include "weft/thread.hpp"

namespace weft::test {
namespace {

class in_valgrind : public ::testing::TestWithParam<preemption> {};

INSTANTIATE_TEST_SUITE_P(each, in_valgrind,
                         ::testing::Values(preemption::signal_yield, preemption::own_tls,
                                           preemption::own_kernel_thread, preemption::bound_tls),
                         [](const auto& info) { return name_of(info.param); });

TEST_P(in_valgrind, preemptible_threads_are_cooperative) {
  if (!memory::annotate::runs_in_valgrind())
    GTEST_SKIP() << "this is not valgrind";
  EXPECT_FALSE(can_preempt(GetParam()));
  ticked_runtime ticked;
  ticked.start(sched::arrangement::stealing, 2, std::chrono::microseconds(200));
  thread_attributes a;
  a.preemption = GetParam();
  mutex m;
  long counted = 0;
  std::vector<thread> all;
  for (int t = 0; t < 4; ++t) {
    all.emplace_back(a, [&] {
      for (int i = 0; i < 100; ++i) {
        const std::scoped_lock held(m);
        const long seen = counted;
        this_thread::yield();
        counted = seen + 1;
      }
    });
  }
  for (thread& t : all)
    t.join();
  EXPECT_EQ(counted, 400);
  EXPECT_EQ(ticked.preemptions(), 0U);
  EXPECT_EQ(preempt::donor_count(), 0U);
  EXPECT_EQ(preempt::spare_count(), 0U);
  ticked.stop();
}

} // namespace
} // namespace weft::test
