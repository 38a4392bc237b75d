// SPDX-License-Identifier: MIT
// Every test of this room runs with 1, 2 and 4 workers and ends by counting what is left.
#pragma once

#include "tests/unit/census_check.hpp"
#include "weft/runtime/runtime.hpp"
#include "weft/sync/wait_table.hpp"
#include "weft/thread.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace weft::testing {

using namespace std::chrono_literals;

/// Long enough to be never reached unless something hangs.
inline constexpr auto never = 30s;

class sync_fixture : public ::testing::TestWithParam<unsigned> {
 protected:
  void SetUp() override {
    runtime::options o;
    o.workers = GetParam();
    ASSERT_TRUE(runtime::start(o));
    census_.begin();
    const char* given = std::getenv("WEFT_TEST_SEED");
    seed = given != nullptr ? std::strtoul(given, nullptr, 10) : std::random_device{}();
    std::printf("seed %lu\n", seed);
    RecordProperty("seed", std::to_string(seed));
  }
  void TearDown() override {
    census_.end();
    EXPECT_TRUE(sync::wait_table_valid());
    EXPECT_TRUE(runtime::stop());
  }

  unsigned long seed = 0;

 private:
  test::census_check census_;
};

/// Threads of both kinds, joined at the end of the scope.
class crowd {
 public:
  template <class F>
  void weft_threads(int count, F body) {
    for (int i = 0; i < count; ++i) {
      light_.emplace_back([body, i] { body(i); });
    }
  }
  template <class F>
  void kernel_threads(int count, F body) {
    for (int i = 0; i < count; ++i) {
      ++running_;
      kernel_.emplace_back([this, body, i] {
        body(i);
        --running_;
      });
    }
  }
  void join() {
    for (auto& t : light_) {
      t.join();
    }
    light_.clear();
    // Joining a kernel thread blocks a worker, which that one may need.
    while (running_ != 0) {
      this_thread::yield();
    }
    for (auto& t : kernel_) {
      t.join();
    }
    kernel_.clear();
  }
  ~crowd() { join(); }

 private:
  std::atomic<int> running_ = 0;
  std::vector<weft::thread> light_;
  std::vector<std::thread> kernel_;
};

inline const auto worker_counts = ::testing::Values(1U, 2U, 4U);
inline std::string worker_count_name(const ::testing::TestParamInfo<unsigned>& info) {
  return std::to_string(info.param) + "_workers";
}

/// Whether a call fails as waits of a tasklet must.
template <class F>
bool is_refused(F call) {
  try {
    call();
  } catch (const std::system_error& e) {
    return e.code() == std::errc::operation_not_permitted;
  }
  return false;
}

} // namespace weft::testing

#define WEFT_SYNC_SUITE(name)                                                                                \
  class name : public ::weft::testing::sync_fixture {};                                                      \
  INSTANTIATE_TEST_SUITE_P(workers, name, ::weft::testing::worker_counts, ::weft::testing::worker_count_name)
