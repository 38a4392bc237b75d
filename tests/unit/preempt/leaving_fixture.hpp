// SPDX-License-Identifier: MIT
// A runtime whose cooperative threads leave their workers in the kernel.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <utility>

#include <unistd.h>

#include "tests/unit/preempt/a_pipe.hpp"
#include "tests/unit/preempt/fixture.hpp"
#include "weft/carrier/leaving.hpp"
#include "weft/preempt/spares.hpp"
#include "weft/preempt/user_code.hpp"

namespace weft::test {

inline std::size_t times_left() {
  return preempt::counts().threads_left;
}

inline bool leaves_here() {
  return preempt::tells_user_code() && can_preempt(preemption::own_kernel_thread);
}

// A runtime whose threads leave their workers, each after some 200 us.
class leaving_runtime {
 public:
  void start(sched::arrangement pools, unsigned workers, sched::leave_when when = sched::leave_when::always) {
    sched::set_leaving(when);
    runtime_.start(pools, workers, std::chrono::microseconds(200));
    before_ = times_left();
    runs_ = true;
  }
  void stop() {
    if (!std::exchange(runs_, false))
      return;
    runtime_.stop();
    sched::set_leaving(sched::leave_when::automatic);
    EXPECT_EQ(preempt::spare_count(), 0U);
  }
  ~leaving_runtime() { stop(); }
  [[nodiscard]] std::size_t left() const { return times_left() - before_; }
  // Others do not run while it waits.
  void await_left(std::size_t times) const {
    for (int looks = 0; left() < times && looks < 20'000; ++looks)
      ::usleep(500);
    EXPECT_GE(left(), times);
  }

 private:
  ticked_runtime runtime_;
  std::size_t before_ = 0;
  bool runs_ = false;
};

} // namespace weft::test
