// SPDX-License-Identifier: MIT
// Whoever ends what preemptible threads need (a runtime that stops does) meets threads that are being made.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "tests/unit/preempt/fixture.hpp"
#include "weft/preempt/preparation.hpp"
#include "weft/workers/ticker.hpp"

namespace weft::test {
namespace {

class preparation : public ticked_by_hand {};
INSTANTIATE_TEST_SUITE_P(each, preparation,
                         ::testing::Values(preemption::signal_yield, preemption::own_tls,
                                           preemption::own_kernel_thread, preemption::bound_tls),
                         [](const auto& kind) { return name_of(kind.param); });

// Between two threads none lives, but the worker may stand on a spare, and keeps TLS blocks.
TEST_P(preparation, a_stop_at_any_time_leaves_what_the_next_thread_needs) {
  constexpr int threads = 300;
  std::atomic<bool> done{false};
  std::thread stops([&] {
    while (!done)
      preempt::stop();
  });
  int ran = 0;
  for (int i = 0; i < threads; ++i)
    thread(attributes(), [&] { ++ran; }).join();
  done = true;
  stops.join();
  EXPECT_EQ(ran, threads);
}

// Of a thread that is to be, by whoever is no thread of a worker's: as for a runtime that has not begun.
TEST_P(preparation, what_is_being_made_is_left_by_a_stop) {
  runtime_.stop();
  preempt::stop();
  ASSERT_EQ(sched::ticker_of_process.load(), nullptr) << "others are there";
  {
    const preempt::preparation made{GetParam(), 1};
    ASSERT_TRUE(made);
    preempt::stop();
    EXPECT_NE(sched::ticker_of_process.load(), nullptr) << "the monitor has ended";
  }
  preempt::stop();
  EXPECT_EQ(sched::ticker_of_process.load(), nullptr) << "the monitor is still there";
}

} // namespace
} // namespace weft::test
