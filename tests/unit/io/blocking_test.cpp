// SPDX-License-Identifier: MIT
// Spare kernel threads.
#include "tests/unit/io/fixture.hpp"

#include "weft/blocking.hpp"
#include "weft/os/fault.hpp"

#include <cerrno>
#include <memory>
#include <stdexcept>

namespace weft::testing {
namespace {

WEFT_IO_SUITE(blocking_calls);

TEST_P(blocking_calls, results_exceptions_references) {
  EXPECT_EQ(weft::blocking([] { return 42; }), 42);
  EXPECT_EQ(*weft::blocking([] { return std::make_unique<int>(7); }), 7);
  int number = 1;
  int& same = weft::blocking([&]() -> int& { return number; });
  EXPECT_EQ(&same, &number);
  weft::blocking([&] { ++number; });
  EXPECT_EQ(number, 2);
  EXPECT_THROW(weft::blocking([] { throw std::runtime_error("x"); }), std::runtime_error);
}

// The workers go on: more calls block at once than there are workers.
TEST_P(blocking_calls, workers_run_others) {
  constexpr int count = 8;
  std::atomic<int> inside{0};
  std::vector<thread> threads;
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([&] {
      weft::blocking([&] {
        ++inside;
        const auto give_up = std::chrono::steady_clock::now() + never;
        while (inside < count && std::chrono::steady_clock::now() < give_up)
          std::this_thread::sleep_for(1ms);
      });
    });
  }
  for (thread& t : threads)
    t.join();
  EXPECT_EQ(inside, count);
}

TEST_P(blocking_calls, no_more_at_once_than_allowed) {
  EXPECT_TRUE(eventually([] {
    io::limit_spare_threads(2, 1ms);
    return io::spare_thread_count() <= 2;
  }));
  std::atomic<int> now{0};
  std::atomic<int> most{0};
  std::vector<thread> threads;
  for (int i = 0; i < 20; ++i) {
    threads.emplace_back([&] {
      weft::blocking([&] {
        const int count = ++now;
        int seen = most;
        while (count > seen && !most.compare_exchange_weak(seen, count)) {
        }
        std::this_thread::sleep_for(1ms);
        --now;
      });
    });
  }
  for (thread& t : threads)
    t.join();
  EXPECT_LE(most, 2);
  EXPECT_TRUE(eventually([] { return io::spare_thread_count() == 0; })) << "they retire";
}

TEST_P(blocking_calls, no_kernel_thread_is_an_error) {
  io::limit_spare_threads(0, 1ms);
  EXPECT_TRUE(eventually([] { return io::spare_thread_count() == 0; }));
  os::fail_nth(os::fault_site::thread_create, 1, EAGAIN);
  bool ran = false;
  EXPECT_EQ(error_of([&] { weft::blocking([&] { ran = true; }); }),
            std::errc::resource_unavailable_try_again);
  os::disarm_faults();
  EXPECT_FALSE(ran);
  weft::blocking([&] { ran = true; });
  EXPECT_TRUE(ran);
}

TEST_P(blocking_calls, other_callers) {
  bool refused = false;
  tasklet([&] {
    refused = error_of([] { weft::blocking([] {}); }) == std::errc::operation_not_permitted;
  }).join();
  EXPECT_TRUE(refused);
  std::thread outside([] {
    const auto self = std::this_thread::get_id();
    EXPECT_EQ(weft::blocking([] { return std::this_thread::get_id(); }), self) << "in place";
  });
  outside.join();
}

} // namespace
} // namespace weft::testing
