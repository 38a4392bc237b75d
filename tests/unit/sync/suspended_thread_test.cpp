// SPDX-License-Identifier: MIT
// Places that hold one thread, under load: whoever waits again where an f has yet to say no, threads that
// give up where others swap to them, and threads that are put back and taken at once. All interleavings of
// the word are in tests/model; here are the switches, which the models double.
#include "tests/unit/sync/fixture.hpp"
#include "weft/sync/suspended_thread.hpp"

#include <cstring>
#include <stop_token>

namespace weft {
namespace {

using sync::suspended_thread;
using sync::wait_result;
using testing::crowd;

class suspended_thread_test : public testing::sync_fixture {};
INSTANTIATE_TEST_SUITE_P(workers, suspended_thread_test, ::testing::Values(1U, 2U, 4U));

/// f publishes its thread and says no late, when a notifier has resumed it and it waits in the place again.
TEST_P(suspended_thread_test, a_wait_is_not_cancelled_by_the_f_of_the_one_before) {
  constexpr int rounds = 5'000;
  suspended_thread place;
  std::atomic<int> there = 0; // twice the round; one more: for the second time
  std::atomic<int> looked = 0;
  std::atomic<int> mail = 0;
  crowd c;
  c.weft_threads(1, [&](int) {
    const auto await = [&](int what) {
      while (there != what)
        this_thread::yield();
    };
    for (int i = 1; i <= rounds; ++i) {
      await(2 * i);
      place.notify();
      looked = i;
      await(2 * i + 1);
      mail = i;
      EXPECT_TRUE(place.notify());
    }
  });
  for (int i = 1; i <= rounds; ++i) {
    place.wait_with([&] {
      there = 2 * i;
      for (int patience = i % 2 * 2'000; patience > 0 && there == 2 * i; --patience)
        static_cast<void>(looked.load());
      return false;
    });
    while (looked != i)
      this_thread::yield();
    place.wait_with([&] {
      there = 2 * i + 1;
      return true;
    });
    EXPECT_EQ(mail, i);
  }
  c.join();
  EXPECT_FALSE(place);
}

/// The thread in `next` is stopped at about the time of the swap: it comes back once, and the swapper always.
TEST_P(suspended_thread_test, swaps_with_a_thread_that_gives_up) {
  constexpr int rounds = 2'000;
  long given_up = 0;
  std::atomic<std::stop_source*> armed = nullptr;
  std::atomic<bool> over = false;
  crowd stopper;
  stopper.kernel_threads(1, [&](int) {
    while (!over) {
      if (std::stop_source* const source = armed) {
        source->request_stop();
        armed = nullptr;
      }
    }
  });
  for (int i = 0; i < rounds; ++i) {
    suspended_thread impatient, swapper;
    std::stop_source source;
    std::atomic<bool> there = false;
    std::atomic<int> back = 0;
    crowd c;
    c.weft_threads(1, [&](int) {
      auto f = [&] { return there = true; };
      if (impatient.wait_with_until(f, sched::no_deadline, source.get_token()) == wait_result::stopped)
        ++given_up;
      ++back;
      swapper.notify();
    });
    while (!there)
      this_thread::yield();
    armed = &source;
    for (int patience = i % 64; patience > 0; --patience)
      static_cast<void>(there.load());
    // Where it has been stopped before it was taken out, the swap is as none.
    swapper.swap_with(impatient, [&] { return i % 3 != 0; });
    while (back == 0 || armed != nullptr) {
      impatient.notify();
      this_thread::yield();
    }
    c.join();
    EXPECT_EQ(back, 1);
    EXPECT_FALSE(impatient);
    EXPECT_FALSE(swapper);
  }
  over = true;
  stopper.join();
  std::printf("%ld of %d gave up\n", given_up, rounds);
}

/// A swap that is called off puts the thread back, on whose stack f has run: it may run at once.
TEST_P(suspended_thread_test, a_thread_that_is_put_back_may_be_taken_at_once) {
  constexpr int rounds = 20'000;
  suspended_thread place, mine;
  std::atomic<int> waits = 0;
  std::atomic<bool> called_off = false;
  std::atomic<int> taken = 0;
  crowd c;
  c.weft_threads(1, [&](int) {
    for (int i = 1; i <= rounds; ++i) {
      place.wait_with([&] {
        waits = i;
        return true;
      });
      char used[512]; // over what has run below it
      std::memset(used, i, sizeof used);
      EXPECT_EQ(*static_cast<volatile char*>(used + i % 512), static_cast<char>(i));
    }
  });
  c.weft_threads(1, [&](int) {
    for (int i = 1; i <= rounds; ++i) {
      while (!called_off)
        this_thread::yield();
      while (!place.notify())
        this_thread::yield();
      called_off = false;
      taken = i;
    }
  });
  for (int i = 1; i <= rounds; ++i) {
    while (waits != i)
      this_thread::yield();
    mine.swap_with(place, [&] {
      called_off = true; // who notifies finds nobody until the thread has been put back
      return false;
    });
    while (taken != i)
      this_thread::yield();
  }
  c.join();
  EXPECT_FALSE(place);
}

} // namespace
} // namespace weft
