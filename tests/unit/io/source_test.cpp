// SPDX-License-Identifier: MIT
// Which event source a group has, and how idle workers sleep in it.
#include "tests/unit/io/fixture.hpp"

#include "weft/trace/session.hpp"
#include "weft/workers/group.hpp"

namespace weft::testing {
namespace {

WEFT_IO_SUITE(event_source);

std::uint64_t parks() {
  return trace::session::of_process().total().parks;
}

TEST_P(event_source, is_the_one_asked_for) {
  EXPECT_EQ(runtime::default_group().waiting_source(), nullptr) << "nobody has needed one";
  pair ends(make_sockets());
  io::write(ends[0], "x", 1);
  const auto* used = static_cast<io::source*>(runtime::default_group().waiting_source());
  ASSERT_NE(used, nullptr);
  const io::mechanism wanted = std::get<0>(GetParam());
  if (used->kind() != wanted) {
    EXPECT_EQ(used->kind(), io::mechanism::epoll);
    EXPECT_FALSE(io::why_not_uring().empty()) << "the reason is known";
    GTEST_SKIP() << io::why_not_uring();
  }
}

// Whoever makes a thread ready reaches a worker that sleeps in the event source.
TEST_P(event_source, a_push_wakes_who_watches) {
  pair ends(make_sockets());
  thread reader([&] { EXPECT_EQ(read_exactly(ends[0], 1), "x"); });
  for (int i = 0; i < 50; ++i) {
    std::atomic<bool> ran{false};
    std::thread outside([&] {
      std::this_thread::sleep_for(std::chrono::microseconds(200 * (i % 5))); // asleep by then, or about to be
      thread([&] { ran = true; }).detach();
    });
    outside.join(); // keeps worker 0 from running anything
    EXPECT_TRUE(eventually([&] { return ran.load(); }));
  }
  io::write(ends[1], "x", 1);
  reader.join();
}

// An event is met although the worker that was last in the event source computes: others sleep.
TEST_P(event_source, the_watch_is_handed_on) {
  if (workers() == 1)
    GTEST_SKIP() << "nobody could take it";
  for (int i = 0; i < 20; ++i) {
    pair first(make_sockets());
    pair second(make_sockets());
    std::atomic<bool> got_second{false};
    thread busy([&] {
      EXPECT_EQ(read_exactly(first[0], 1), "x");
      const auto give_up = std::chrono::steady_clock::now() + never;
      while (!got_second && std::chrono::steady_clock::now() < give_up) // does not yield
        ;
      EXPECT_TRUE(got_second);
    });
    thread waiting([&] {
      EXPECT_EQ(read_exactly(second[0], 1), "y");
      got_second = true;
    });
    // From outside, while all workers sleep but the one that joins.
    std::thread outside([&] {
      std::this_thread::sleep_for(5ms);
      io::write(first[1], "x", 1);
      std::this_thread::sleep_for(std::chrono::microseconds(i * 100));
      io::write(second[1], "y", 1);
    });
    busy.join();
    waiting.join();
    outside.join();
  }
}

// Sleeps in the event source end at the next timer.
TEST_P(event_source, timers_end_the_sleep) {
  pair ends(make_sockets());
  thread reader([&] { EXPECT_EQ(read_exactly(ends[0], 1), "x"); });
  for (int i = 0; i < 20; ++i)
    EXPECT_TRUE(this_thread::sleep_for(1ms));
  io::write(ends[1], "x", 1);
  reader.join();
}

// Once nothing happens any more nobody wakes: neither polls nor naps. Workers that gave memory back park once
// more, so it is counted after that.
TEST_P(event_source, an_idle_group_sleeps) {
  pair ends(make_sockets());
  thread reader([&] { EXPECT_EQ(read_exactly(ends[0], 1), "x"); });
  std::uint64_t before = 0;
  std::uint64_t after = 0;
  std::atomic<bool> looked{false};
  std::thread outside([&] {
    for (int i = 0; i < 100; ++i) { // a loaded machine may take longer to come to rest
      std::this_thread::sleep_for(100ms);
      before = parks();
      std::this_thread::sleep_for(100ms);
      after = parks();
      if (after == before)
        break;
    }
    looked = true;
    io::write(ends[1], "x", 1);
  });
  reader.join();
  EXPECT_TRUE(looked);
  EXPECT_EQ(after, before);
  outside.join();
}

} // namespace
} // namespace weft::testing
