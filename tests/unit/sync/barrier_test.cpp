// SPDX-License-Identifier: MIT
#include "weft/barrier.hpp"

#include "tests/unit/sync/fixture.hpp"

namespace weft::testing {
namespace {

WEFT_SYNC_SUITE(barrier_test);

TEST_P(barrier_test, phases_and_completion) {
  constexpr int count = 8;
  constexpr int rounds = 50;
  std::atomic<int> arrived = 0;
  int completed = 0;
  const auto complete = [&]() noexcept {
    EXPECT_EQ(arrived, (completed + 1) * count);
    ++completed;
  };
  barrier b(count, complete);
  crowd c;
  const auto work = [&](int) {
    for (int i = 0; i < rounds; ++i) {
      ++arrived;
      b.arrive_and_wait();
      EXPECT_GE(completed, i + 1); // ordered by the barrier
      b.arrive_and_wait();
    }
  };
  const auto twice = [&](int) {
    for (int i = 0; i < rounds; ++i) {
      ++arrived;
      auto token = b.arrive();
      EXPECT_TRUE(b.wait_for(token, never));
      arrived += count; // for the second phase of the round: once
      token = b.arrive();
      b.wait(std::move(token));
    }
  };
  c.kernel_threads(1, work);
  c.weft_threads(6, work);
  c.weft_threads(1, twice);
  c.join();
  EXPECT_EQ(completed, 2 * rounds);
}

TEST_P(barrier_test, dropping_out) {
  barrier<> b(3);
  crowd c;
  c.weft_threads(1, [&](int) { b.arrive_and_drop(); });
  c.weft_threads(2, [&](int) {
    for (int i = 0; i < 50; ++i) {
      b.arrive_and_wait();
    }
  });
}

TEST_P(barrier_test, a_wait_can_be_given_up_and_taken_up_again) {
  barrier<> b(2);
  auto token = b.arrive();
  EXPECT_FALSE(b.wait_for(token, 1ms));
  std::stop_source source;
  source.request_stop();
  EXPECT_FALSE(b.wait(token, source.get_token()));
  EXPECT_FALSE(b.wait_until(token, std::chrono::system_clock::now()));
  weft::thread other([&] { b.arrive_and_wait(); });
  b.wait(std::move(token));
  other.join();
}

} // namespace
} // namespace weft::testing
