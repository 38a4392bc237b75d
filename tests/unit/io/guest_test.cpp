// SPDX-License-Identifier: MIT
// Weft as a guest in a loop over poll(2).
#include "tests/unit/io/fixture.hpp"

#include "weft/mutex.hpp"
#include "weft/runtime/guest.hpp"

#include <mutex>
#include <poll.h>

namespace weft::testing {
namespace {

WEFT_IO_SUITE(guest_of_a_loop);

// The loop of somebody else's: it has a descriptor of its own and counts how often it came round.
struct foreign_loop {
  runtime::guest weft;
  int own = -1;
  // Other workers do not tell the loop that they have done something: it looks.
  int patience_ms = runtime::worker_count() == 1 ? 10'000 : 5;
  int rounds = 0;
  int own_events = 0;

  template <class Condition>
  bool run_until(Condition is_so) {
    const auto give_up = std::chrono::steady_clock::now() + never;
    for (;;) {
      const bool more = weft.run(1ms);
      if (is_so())
        return true;
      pollfd watched[] = {{weft.descriptor(), POLLIN, 0}, {own, POLLIN, 0}};
      ::poll(watched, 2, more ? 0 : patience_ms);
      ++rounds;
      if ((watched[1].revents & POLLIN) != 0) {
        char text[1];
        EXPECT_EQ(::read(own, text, 1), 1);
        ++own_events;
      }
      if (std::chrono::steady_clock::now() > give_up)
        return false;
    }
  }
};

TEST_P(guest_of_a_loop, threads_timers_and_io_go_on) {
  pair ends(make_sockets());
  foreign_loop loop;
  std::atomic<int> slept{0};
  std::atomic<int> got{0};
  thread sleeper([&] {
    for (; slept < 5; ++slept)
      this_thread::sleep_for(2ms);
  });
  thread reader([&] {
    char text[1];
    for (; got < 50; ++got)
      ASSERT_EQ(io::read(ends[0], text, 1, never), 1U);
  });
  thread writer([&] {
    for (int i = 0; i < 50; ++i) {
      io::write(ends[1], "x", 1, never);
      this_thread::yield();
    }
  });
  EXPECT_TRUE(loop.run_until([&] { return slept == 5 && got == 50; }));
  for (thread* t : {&sleeper, &reader, &writer})
    t->join();
}

TEST_P(guest_of_a_loop, pushes_from_outside_wake_it) {
  foreign_loop loop;
  for (int i = 0; i < 20; ++i) {
    std::atomic<bool> ran{false};
    std::thread outside([&] {
      std::this_thread::sleep_for(std::chrono::microseconds(100 * i));
      thread([&] { ran = true; }).detach();
    });
    EXPECT_TRUE(loop.run_until([&] { return ran.load(); }));
    outside.join();
  }
}

// The loop waits long, and comes round because of the bell and of its own descriptor, not of its time limit.
TEST_P(guest_of_a_loop, the_loop_sleeps_in_between) {
  pair own(make_pipe());
  foreign_loop loop;
  loop.own = own[0];
  std::thread outside([&] {
    std::this_thread::sleep_for(50ms);
    EXPECT_EQ(::write(own[1], "x", 1), 1);
  });
  EXPECT_TRUE(loop.run_until([&] { return loop.own_events == 1; }));
  EXPECT_LT(loop.rounds, 1000) << "it does not spin";
  outside.join();
}

TEST_P(guest_of_a_loop, callbacks_may_use_weft) {
  pair own(make_pipe());
  foreign_loop loop;
  loop.own = own[0];
  mutex lock;
  std::atomic<int> sum{0};
  for (int i = 0; i < 10; ++i) {
    const std::scoped_lock held(lock);
    thread([&] {
      const std::scoped_lock inner(lock);
      ++sum;
    }).detach();
    this_thread::sleep_for(1ms); // waits: the worker runs its own loop meanwhile
  }
  EXPECT_TRUE(loop.run_until([&] { return sum == 10; }));
  const std::scoped_lock last(lock); // who counted last may not have given it back
}

TEST_P(guest_of_a_loop, lives_on_the_thread_of_main) {
  std::error_code error;
  thread([&] { error = error_of([] { const runtime::guest nowhere; }); }).join();
  EXPECT_EQ(error, std::errc::operation_not_permitted);
}

} // namespace
} // namespace weft::testing
