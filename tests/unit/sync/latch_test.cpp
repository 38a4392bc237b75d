// SPDX-License-Identifier: MIT
#include "weft/latch.hpp"

#include "tests/unit/sync/fixture.hpp"

namespace weft::testing {
namespace {

WEFT_SYNC_SUITE(latch_test);

TEST_P(latch_test, opens_at_zero) {
  latch l(3);
  EXPECT_FALSE(l.try_wait());
  EXPECT_FALSE(l.wait_for(1ms));
  l.count_down(2);
  EXPECT_FALSE(l.try_wait());
  std::stop_source source;
  source.request_stop();
  EXPECT_FALSE(l.wait(source.get_token()));
  l.count_down();
  EXPECT_TRUE(l.try_wait());
  l.wait();
  EXPECT_TRUE(l.wait_until(std::chrono::system_clock::now()));
  EXPECT_TRUE(l.wait(source.get_token()));
  EXPECT_TRUE(latch(0).try_wait());
}

TEST_P(latch_test, all_meet) {
  for (int round = 0; round < 100; ++round) {
    constexpr int count = 10;
    latch l(count);
    std::atomic<int> arrived = 0;
    crowd c;
    const auto meet = [&](int) {
      ++arrived;
      l.arrive_and_wait();
      EXPECT_EQ(arrived, count);
    };
    c.weft_threads(count - 2, meet);
    c.kernel_threads(2, meet);
  }
}

TEST_P(latch_test, may_be_destroyed_after_the_wait) {
  for (int i = 0; i < 100; ++i) {
    crowd c;
    auto* l = new latch(2);
    const auto count_down = [l](int) { l->count_down(); };
    c.weft_threads(1, count_down);
    i % 2 == 0 ? c.kernel_threads(1, count_down) : c.weft_threads(1, count_down);
    l->wait();
    delete l;
  }
}

} // namespace
} // namespace weft::testing
