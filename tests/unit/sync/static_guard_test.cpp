// SPDX-License-Identifier: MIT
// Static variables whose initialisers wait in Weft: by the compiler's calls, and by what stands behind them.
#include "weft/sync/static_guard.hpp"

#include <cstdint>
#include <type_traits>

#include "tests/unit/sync/fixture.hpp"
#include "weft/arch/arch.hpp"

namespace weft::testing {
namespace {

WEFT_SYNC_SUITE(static_guard_test);

TEST_P(static_guard_test, all_wait_for_the_one_that_makes_it) {
  if (arch::sanitizer::watches_frames)
    GTEST_SKIP() << "sanitizers have these functions of their own";
  static std::atomic<int> initialisations{0};
  initialisations = 0;
  const auto use = [](unsigned workers) {
    struct connection {
      connection() {
        ++initialisations;
        this_thread::sleep_for(20ms);
        value = 1;
      }
      int value = 0;
    };
    const auto made = [](auto number) -> int {
      static_cast<void>(number);
      static connection only;
      return only.value;
    };
    return workers == 1   ? made(std::integral_constant<unsigned, 1>())
           : workers == 2 ? made(std::integral_constant<unsigned, 2>())
                          : made(std::integral_constant<unsigned, 4>());
  };
  crowd c;
  const unsigned workers = GetParam();
  c.weft_threads(6, [=](int) { EXPECT_EQ(use(workers), 1); });
  c.kernel_threads(2, [=](int) { EXPECT_EQ(use(workers), 1); });
  EXPECT_EQ(use(workers), 1);
  c.join();
  EXPECT_EQ(initialisations, 1);
}

TEST_P(static_guard_test, after_a_throw_the_next_makes_it) {
  alignas(8) std::uint64_t guard = 0;
  std::atomic<int> tried{0}, made{0};
  const auto use = [&](int) {
    if (!sync::acquire_guard(&guard))
      return;
    this_thread::sleep_for(2ms);
    if (++tried < 4)
      return sync::abort_guard(&guard);
    ++made;
    sync::release_guard(&guard);
  };
  crowd c;
  c.weft_threads(8, use);
  c.kernel_threads(2, use);
  c.join();
  EXPECT_EQ(tried, 4);
  EXPECT_EQ(made, 1);
  EXPECT_FALSE(sync::acquire_guard(&guard));
}

// Others run on the only worker meanwhile.
TEST_P(static_guard_test, who_waits_leaves_the_worker) {
  alignas(8) std::uint64_t guard = 0;
  ASSERT_TRUE(sync::acquire_guard(&guard));
  crowd c;
  std::atomic<int> waiting{0}, got{0};
  c.weft_threads(5, [&](int) {
    ++waiting;
    EXPECT_FALSE(sync::acquire_guard(&guard));
    ++got;
  });
  while (waiting != 5)
    this_thread::yield();
  this_thread::sleep_for(2ms);
  EXPECT_EQ(got, 0);
  sync::release_guard(&guard);
  c.join();
  EXPECT_EQ(got, 5);
}

} // namespace
} // namespace weft::testing
