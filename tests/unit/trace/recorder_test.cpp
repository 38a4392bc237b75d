// SPDX-License-Identifier: MIT
#include "tests/unit/trace/fixture.hpp"
#include "weft/os/clock.hpp"
#include "weft/trace/ring.hpp"

#include <gtest/gtest.h>
#include <thread>
#include <vector>

namespace {

using namespace weft::trace;

TEST(ring, keeps_the_newest_and_counts_the_rest) {
  ring* r = ring::make(16);
  ASSERT_NE(r, nullptr);
  EXPECT_EQ(r->kept(), 0u);
  for (std::uint64_t i = 0; i < 16; ++i) {
    r->append({i, i, 0, event::run});
    EXPECT_EQ(r->kept(), i + 1);
    EXPECT_EQ(r->dropped(), 0u);
    EXPECT_EQ(r->at(0).time_ns, 0u);
    EXPECT_EQ(r->at(i).time_ns, i);
  }
  for (std::uint64_t i = 16; i < 39; ++i) {
    r->append({i, i, 0, event::run});
    EXPECT_EQ(r->kept(), 16u);
    EXPECT_EQ(r->dropped(), i - 15);
    EXPECT_EQ(r->at(0).time_ns, i - 15);
    EXPECT_EQ(r->at(15).time_ns, i);
  }
  ring::free(r);
}

using recorder_test = weft::trace::test::tracing;

TEST_F(recorder_test, without_a_session_nothing_is_kept) {
  test::fake_worker w(0);
  w.recorder.add(event::run, &w);
  EXPECT_EQ(session.kept(), 0u);
  session.start(path_);
  session.stop();
  w.recorder.add(event::run, &w); // a worker that has not seen yet that its switch is off
  EXPECT_EQ(session.kept(), 0u);
}

TEST_F(recorder_test, one_that_is_not_attached_records_nothing) {
  recorder alone;
  session.start(path_);
  alone.add(event::run, &alone);
  session.stop();
  EXPECT_EQ(session.kept(), 0u);
}

TEST_F(recorder_test, a_full_ring_drops_the_oldest_and_says_how_many) {
  test::fake_worker w(3);
  session.start(path_);
  constexpr unsigned capacity = 64 << 10;
  for (unsigned i = 0; i < capacity + 100; ++i) {
    w.note(event::run, 0x1000 + i);
  }
  session.stop();
  EXPECT_EQ(session.kept(), capacity);
  EXPECT_EQ(session.dropped(), 100u);
  session.discard();
}

TEST_F(recorder_test, records_of_a_worker_that_left_stay) {
  session.start(path_);
  {
    test::fake_worker w(0);
    w.note(event::run, 0x10);
    w.note(event::stop_end, 0x10);
    w.counters.parks += 7;
  }
  test::fake_worker other(1);
  other.counters.parks += 3;
  session.stop();
  EXPECT_EQ(session.kept(), 2u);
  EXPECT_EQ(session.total().parks, 10u);
  session.write();
  EXPECT_EQ(test::contents(path_)["stop end"], 1);
}

// The count of events before the stop is known exactly: stop() may neither lose one that was recorded nor let
// one in later. Meant for TSan as well: it reads the rings while the owners still call add().
TEST_F(recorder_test, owners_may_record_while_it_stops) {
  constexpr int rounds = 50;
  test::fake_worker first(0);
  test::fake_worker second(1);
  std::atomic<bool> end{false};
  const auto work = [&end](test::fake_worker& w) {
    while (!end.load(std::memory_order_relaxed)) {
      w.recorder.add(event::run, &w, thread_kind); // regardless of the switch: the worst case
      w.recorder.add(event::stop_yield, &w);
    }
  };
  std::thread one(work, std::ref(first));
  std::thread two(work, std::ref(second));
  std::uint64_t most = 0;
  for (int round = 0; round < rounds; ++round) {
    session.start(path_);
    weft::os::sleep_ns(20'000);
    session.stop();
    const std::uint64_t kept = session.kept();
    const std::uint64_t dropped = session.dropped();
    most = std::max(most, kept);
    std::this_thread::yield();
    ASSERT_EQ(session.kept(), kept) << "round " << round;
    ASSERT_EQ(session.dropped(), dropped) << "round " << round;
    if (round == rounds - 1) {
      session.write();
    } else {
      session.discard();
    }
  }
  end.store(true, std::memory_order_relaxed);
  one.join();
  two.join();
  EXPECT_GT(most, 0u) << "no event in any round";
  if (std::filesystem::exists(path_)) {
    static_cast<void>(test::contents(path_));
  }
}

TEST(counter, is_a_number_that_others_may_read) {
  counters a;
  ++a.steals;
  a.timers_fired += 5u;
  counters b = a;
  b += a;
  EXPECT_EQ(b.steals, 2u);
  EXPECT_EQ(b.timers_fired, 10u);
  unsigned seen = 0;
  counters::for_each(b, [&seen](const char*, const counter&) { ++seen; });
  EXPECT_EQ(seen, sizeof(counters) / sizeof(counter));
}

} // namespace
