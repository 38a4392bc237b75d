// SPDX-License-Identifier: MIT
// Twins of the standard's classes do in corners what those do: each test runs over std and over weft. Where
// the two differ, docs/guide/synchronisation.md says so.
#pragma once

#include "tests/unit/api/fixture.hpp"
#include "weft/barrier.hpp"
#include "weft/condition_variable.hpp"
#include "weft/future.hpp"
#include "weft/latch.hpp"
#include "weft/mutex.hpp"
#include "weft/recursive_mutex.hpp"
#include "weft/semaphore.hpp"
#include "weft/shared_mutex.hpp"
#include "weft/sleep.hpp"
#include "weft/thread.hpp"

#include <atomic>
#include <barrier>
#include <chrono>
#include <concepts>
#include <condition_variable>
#include <future>
#include <latch>
#include <memory>
#include <mutex>
#include <semaphore>
#include <shared_mutex>
#include <stdexcept>
#include <stop_token>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace weft::test {

using namespace std::chrono_literals;

/// One row of the table: whose classes.
struct of_std {
  using thread = std::thread;
  using jthread = std::jthread;
  using mutex = std::mutex;
  using timed_mutex = std::timed_mutex;
  using recursive_mutex = std::recursive_timed_mutex;
  using shared_mutex = std::shared_timed_mutex;
  using condition_variable = std::condition_variable;
  using condition_variable_any = std::condition_variable_any;
  using latch = std::latch;
  using barrier = std::barrier<>;
  using semaphore = std::counting_semaphore<8>;
  template <class R>
  using promise = std::promise<R>;
  template <class R>
  using future = std::future<R>;
  template <class R>
  using shared_future = std::shared_future<R>;
  template <class S>
  using packaged_task = std::packaged_task<S>;
  static void yield() { std::this_thread::yield(); }
  static void sleep_for(auto length) { std::this_thread::sleep_for(length); }
  static void sleep_until(auto at) { std::this_thread::sleep_until(at); }
};

struct of_weft {
  using thread = weft::thread;
  using jthread = weft::jthread;
  using mutex = weft::mutex;
  using timed_mutex = weft::timed_mutex;
  using recursive_mutex = weft::recursive_timed_mutex;
  using shared_mutex = weft::shared_timed_mutex;
  using condition_variable = weft::condition_variable;
  using condition_variable_any = weft::condition_variable_any;
  using latch = weft::latch;
  using barrier = weft::barrier<>;
  using semaphore = weft::counting_semaphore<8>;
  template <class R>
  using promise = weft::promise<R>;
  template <class R>
  using future = weft::future<R>;
  template <class R>
  using shared_future = weft::shared_future<R>;
  template <class S>
  using packaged_task = weft::packaged_task<S>;
  static void yield() { weft::this_thread::yield(); }
  static void sleep_for(auto length) { weft::this_thread::sleep_for(length); }
  static void sleep_until(auto at) { weft::this_thread::sleep_until(at); }
};

/// On one worker: there a wait that lets nobody run hangs.
template <class Of>
class twin_fixture : public ::testing::Test {
 protected:
  void SetUp() override {
    runtime::options o;
    o.workers = 1;
    ASSERT_TRUE(runtime::start(o));
    census_.begin();
  }
  void TearDown() override {
    census_.end();
    EXPECT_TRUE(runtime::stop());
  }

 private:
  census_check census_;
};

struct names {
  template <class Of>
  static std::string GetName(int) {
    return std::is_same_v<Of, of_std> ? "std" : "weft";
  }
};
using rows = ::testing::Types<of_std, of_weft>;

} // namespace weft::test
