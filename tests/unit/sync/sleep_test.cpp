// SPDX-License-Identifier: MIT
#include "weft/semaphore.hpp"
#include "weft/sleep.hpp"

#include <cmath>

#include "tests/unit/sync/fixture.hpp"

namespace weft::testing {
namespace {

WEFT_SYNC_SUITE(sleep_test);

TEST_P(sleep_test, sleeps_at_least_so_long) {
  crowd c;
  const auto sleep = [](int i) {
    const auto before = std::chrono::steady_clock::now();
    EXPECT_TRUE(this_thread::sleep_for(std::chrono::microseconds(100 * i)));
    EXPECT_GE(std::chrono::steady_clock::now() - before, std::chrono::microseconds(100 * i));
    const auto at = std::chrono::system_clock::now() + 1ms;
    EXPECT_TRUE(this_thread::sleep_until(at));
    EXPECT_TRUE(this_thread::sleep_for(-1h));
  };
  c.weft_threads(50, sleep);
  c.kernel_threads(2, sleep);
}

TEST_P(sleep_test, a_stop_request_ends_it) {
  std::stop_source source;
  crowd c;
  const auto sleep = [&](int) {
    EXPECT_FALSE(this_thread::sleep_for(std::chrono::hours::max(), source.get_token()));
  };
  c.weft_threads(20, sleep);
  c.kernel_threads(2, sleep);
  this_thread::yield();
  source.request_stop();
  c.join();
  EXPECT_FALSE(this_thread::sleep_for(1h, source.get_token()));
}

TEST_P(sleep_test, times_that_no_nanoseconds_hold) {
  using steady = std::chrono::steady_clock;
  using hours_since_1970 = std::chrono::time_point<std::chrono::system_clock, std::chrono::hours>;
  EXPECT_TRUE(this_thread::sleep_until(steady::time_point::min()));
  EXPECT_TRUE(this_thread::sleep_until(hours_since_1970::min()));
  EXPECT_TRUE(this_thread::sleep_for(std::chrono::hours::min()));
  EXPECT_TRUE(this_thread::sleep_for(std::chrono::duration<double>(std::nan(""))));
  weft::binary_semaphore none(0);
  EXPECT_FALSE(none.try_acquire_until(steady::time_point::min()));
  std::stop_source source;
  source.request_stop();
  EXPECT_FALSE(this_thread::sleep_until(steady::time_point::max(), source.get_token()));
  EXPECT_FALSE(this_thread::sleep_until(hours_since_1970::max(), source.get_token()));
}

TEST_P(sleep_test, refuses_tasklets) {
  bool refused = false;
  weft::tasklet([&] { refused = is_refused([] { this_thread::sleep_for(1s); }); }).join();
  EXPECT_TRUE(refused);
}

} // namespace
} // namespace weft::testing
