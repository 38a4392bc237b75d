// SPDX-License-Identifier: MIT
// A poll(2) without a limit that a tick cuts short.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>

#include <cstring>

#include "tests/unit/preempt/a_pipe.hpp"
#include "tests/unit/preempt/fixture.hpp"
#include "weft/thread.hpp"

namespace weft::test {

// `poll` returns what the kernel says. `runs` has one worker, which only a tick takes from who waits there.
template <class Poll>
void expect_a_poll_to_go_on(const ticked_runtime& runs, preemption kind, const Poll& poll) {
  const a_pipe pipe;
  long result = 0;
  thread_attributes a;
  a.preemption = kind;
  thread waits(a, [&] {
    pollfd readable{pipe.reading_end(), POLLIN, 0};
    result = poll(&readable, 1, -1);
  });
  thread releases([&] {
    while (runs.workers_let_go() == 0)
      this_thread::yield();
    pipe.write_one();
  });
  waits.join();
  releases.join();
  EXPECT_EQ(result, 1) << std::strerror(static_cast<int>(-result));
  EXPECT_NE(runs.calls_gone_on_with(), 0U);
}

} // namespace weft::test
