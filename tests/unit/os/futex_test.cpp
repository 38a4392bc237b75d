// SPDX-License-Identifier: MIT
#include "weft/os/clock.hpp"
#include "weft/os/futex.hpp"

#include <atomic>
#include <chrono>
#include <gtest/gtest.h>
#include <thread>

namespace {

using namespace weft::os;

TEST(clock, is_steady_clock) {
  const auto before = std::chrono::steady_clock::now().time_since_epoch().count();
  const std::int64_t now = now_ns();
  const auto after = std::chrono::steady_clock::now().time_since_epoch().count();
  EXPECT_LE(before, now);
  EXPECT_LE(now, after);
}

TEST(futex, a_changed_word_is_not_waited_for) {
  std::atomic<std::uint32_t> word{1};
  EXPECT_EQ(futex_wait(&word, 0), EAGAIN);
  EXPECT_EQ(futex_wait_until(&word, 0, now_ns() + 1'000'000'000'000), EAGAIN);
}

TEST(futex, a_deadline_in_the_past_times_out) {
  std::atomic<std::uint32_t> word{0};
  EXPECT_EQ(futex_wait_until(&word, 0, now_ns() - 1), ETIMEDOUT);
  EXPECT_EQ(futex_wait_until(&word, 0, 0), ETIMEDOUT);
  EXPECT_EQ(futex_wait_until(&word, 0, -5), ETIMEDOUT);
}

TEST(futex, never_returns_ETIMEDOUT_before_the_deadline) {
  std::atomic<std::uint32_t> word{0};
  const std::int64_t deadline = now_ns() + 2'000'000;
  while (futex_wait_until(&word, 0, deadline) != ETIMEDOUT) {
  }
  EXPECT_GE(now_ns(), deadline);
}

TEST(futex, wake_without_waiters_wakes_nobody) {
  std::atomic<std::uint32_t> word{0};
  EXPECT_EQ(futex_wake(&word, 1), 0);
  EXPECT_EQ(futex_wake_all(&word), 0);
}

TEST(futex, hands_a_word_back_and_forth) {
  std::atomic<std::uint32_t> word{0};
  constexpr std::uint32_t rounds = 500;
  std::thread other{[&] {
    for (std::uint32_t round = 0; round < rounds; ++round) {
      while (word.load() != 2 * round + 1) {
        futex_wait(&word, 2 * round);
      }
      word.store(2 * round + 2);
      futex_wake(&word, 1);
    }
  }};
  for (std::uint32_t round = 0; round < rounds; ++round) {
    word.store(2 * round + 1);
    futex_wake(&word, 1);
    while (word.load() != 2 * round + 2) {
      futex_wait(&word, 2 * round + 1);
    }
  }
  other.join();
  EXPECT_EQ(word.load(), 2 * rounds);
}

} // namespace
