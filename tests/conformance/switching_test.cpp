// SPDX-License-Identifier: MIT
// Conformance: giving the worker to others. yield, yield_to, create_to, suspend and resume.
#include "tests/conformance/cell.hpp"

namespace weft::conformance {
namespace {

WEFT_CONFORMANCE(switching);

TEST_P(switching, yield_returns) {
  std::atomic<int> rounds{0};
  for_each_thread(8, [&rounds](int) {
    for (int i = 0; i < scaled(40); ++i) {
      this_thread::yield();
      ++rounds;
    }
  });
  EXPECT_EQ(rounds, 8 * scaled(40));
}

// Each thread spins on yield() until all have come: none may be passed over for ever.
TEST_P(switching, yield_lets_everybody_run) {
  if (!GetParam().fair())
    GTEST_SKIP() << "the user's policy";
  const int count = 3 * static_cast<int>(workers());
  std::atomic<int> arrived{0};
  for_each_thread(count, [&](int) {
    ++arrived;
    while (arrived < count)
      this_thread::yield();
  });
  EXPECT_EQ(arrived, count);
  arrived = 0;
  inside([&] { // all of one worker
    std::vector<thread> threads;
    for (int i = 0; i < 6; ++i) {
      threads.emplace_back([&] {
        ++arrived;
        while (arrived < 6)
          this_thread::yield();
      });
    }
    while (arrived < 6)
      this_thread::yield();
    for (auto& t : threads)
      t.join();
  });
}

// A unit that comes from elsewhere is not kept out by two that yield to each other.
TEST_P(switching, yields_do_not_keep_newcomers_out) {
  if (!GetParam().fair())
    GTEST_SKIP() << "the user's policy";
  std::atomic<bool> came{false};
  thread a(in_pool(0), [&] {
    while (!came)
      this_thread::yield();
  });
  thread b(in_pool(0), [&] {
    while (!came)
      this_thread::yield();
  });
  std::this_thread::sleep_for(1ms);
  thread newcomer(in_pool(0), [&] { came = true; });
  a.join(), b.join(), newcomer.join();
}

TEST_P(switching, yield_to) {
  std::atomic<int> turns{0};
  inside([&] {
    std::vector<thread> others;
    for (int i = 0; i < 4; ++i) {
      others.emplace_back([&turns] {
        for (int k = 0; k < 10; ++k) {
          ++turns;
          this_thread::yield();
        }
      });
    }
    for (int k = 0; k < scaled(20); ++k) {
      for (auto& t : others)
        this_thread::yield_to(t);
    }
    for (auto& t : others)
      t.join();
    this_thread::yield_to(thread()); // nobody: a plain yield
  });
  EXPECT_EQ(turns, 40);
}

// One that is cancelled while it gives its turn away must not take the other with it.
TEST_P(switching, yield_to_by_a_thread_that_must_go) {
  for (int round = 0; round < scaled(20); ++round) {
    std::atomic<bool> other_ran{false};
    inside([&] {
      thread other([&other_ran] { other_ran = true; });
      thread giver([&] {
        sched::request_cancel(*sched::here().current);
        this_thread::yield_to(other);
        ADD_FAILURE() << "went on after a cancellation";
      });
      giver.join();
      other.join();
    });
    EXPECT_TRUE(other_ran);
    inside([&] {
      other_ran = false;
      thread other([&other_ran] { other_ran = true; });
      thread mover([&] {
        sched::request_migration(*sched::here().current, main_pool(workers() - 1));
        this_thread::yield_to(other);
      });
      mover.join();
      other.join();
    });
    EXPECT_TRUE(other_ran);
  }
}

TEST_P(switching, create_to_starts_at_once) {
  inside([this] {
    int order = 0;
    for (int i = 0; i < scaled(20); ++i) {
      // Without attributes the pool is the worker's own, from which it may start the thread itself.
      std::atomic<bool> ran{false};
      thread t = thread::create_to({}, [&] {
        ran = true;
        order += 1;
      });
      EXPECT_TRUE(ran || workers() > 1);
      t.join();
      EXPECT_TRUE(ran);
    }
    EXPECT_EQ(order, scaled(20));
    thread far = thread::create_to(in_pool(workers() - 1), [] {});
    far.join();
  });
  std::atomic<bool> ran{false};
  thread t =
      thread::create_to(in_pool(0), [&ran] { ran = true; }); // from another group: it cannot start there
  t.join();
  EXPECT_TRUE(ran);
}

TEST_P(switching, suspend_and_resume) {
  std::atomic<int> steps{0};
  std::vector<thread> sleepers;
  for (int i = 0; i < 6; ++i) {
    sleepers.emplace_back(in_pool(static_cast<unsigned>(i)), [&steps] {
      for (int k = 0; k < 5; ++k) {
        this_thread::suspend();
        ++steps;
      }
    });
  }
  // One permit is kept, no more: so each step waits for the one before.
  for (int k = 1; k <= 5; ++k) {
    for (auto& t : sleepers)
      t.resume();
    EXPECT_TRUE(eventually([&] { return steps == 6 * k; })) << steps;
  }
  for (auto& t : sleepers)
    t.join();
}

TEST_P(switching, resume_before_suspend) {
  inside([] {
    sched::resume(*sched::here().current);
    this_thread::suspend(); // returns at once
    sched::resume(*sched::here().current);
    sched::resume(*sched::here().current); // a second permit is not kept
    this_thread::suspend();
  });
  for (int i = 0; i < scaled(20); ++i) {
    std::atomic<bool> went_on{false};
    thread t(in_pool(static_cast<unsigned>(i)), [&went_on] {
      this_thread::suspend();
      went_on = true;
    });
    t.resume(); // before or after, as it happens
    t.join();
    EXPECT_TRUE(went_on);
  }
}

TEST_P(switching, two_hand_the_turn_to_and_fro) {
  std::atomic<int> count{0};
  const int rounds = scaled(60);
  unit_handle* first = nullptr;
  std::atomic<unit_handle*> second{nullptr};
  thread a(in_pool(0), [&] {
    for (int i = 0; i < rounds; ++i) {
      this_thread::suspend();
      ++count;
      sched::resume(*second.load());
    }
  });
  first = a.native_handle();
  thread b(in_pool(workers() - 1), [&, first] {
    second = sched::here().current;
    for (int i = 0; i < rounds; ++i) {
      sched::resume(*first);
      this_thread::suspend();
      ++count;
    }
  });
  b.join();
  a.join();
  EXPECT_EQ(count, 2 * rounds);
}

} // namespace
} // namespace weft::conformance
