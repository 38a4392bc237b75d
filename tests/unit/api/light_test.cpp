// SPDX-License-Identifier: MIT
// The light header alone, included first: it must need nothing of the standard library.
#include "weft/light.hpp"

#if defined(_GLIBCXX_RELEASE) || defined(_LIBCPP_VERSION)
#error "weft/light.hpp includes a header of the standard library"
#endif

#include <gtest/gtest.h>

#include <memory>
#include <system_error>
#include <vector>

#include "weft/runtime/runtime.hpp"
#include "weft/thread.hpp"

namespace weft::light {
namespace {

class light : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(runtime::start({.workers = 2, .pools = {}, .bind = false, .make_scheduler = nullptr}));
    units_ = runtime::count().units;
  }
  void TearDown() override {
    EXPECT_EQ(runtime::count().units, units_);
    EXPECT_TRUE(runtime::stop());
  }

 private:
  std::size_t units_ = 0;
};

TEST_F(light, threads_and_mutexes) {
  mutex lock;
  long sum = 0;
  std::vector<thread> threads;
  for (long i = 1; i <= 100; ++i) {
    threads.emplace_back([&lock, &sum, i] { // 24 bytes: on the heap
      const lock_guard held(lock);
      yield();
      sum += i;
    });
  }
  for (thread& t : threads)
    t.join();
  EXPECT_EQ(sum, 5050);
  EXPECT_TRUE(lock.try_lock());
  EXPECT_FALSE(lock.try_lock());
  lock.unlock();
}

TEST_F(light, callables_are_destroyed) {
  const auto counted = std::make_shared<int>(0);
  thread t([counted] { ++*counted; });
  EXPECT_TRUE(t.joinable());
  thread moved(static_cast<thread&&>(t));
  EXPECT_FALSE(t.joinable());
  moved.join();
  EXPECT_FALSE(moved.joinable());
  EXPECT_EQ(*counted, 1);
  EXPECT_EQ(counted.use_count(), 1);
  EXPECT_THROW(moved.join(), std::system_error);
}

TEST_F(light, a_condition_variable_and_a_full_thread_meet) {
  mutex lock;
  condition_variable changed;
  int turn = 0;
  weft::thread full([&] {
    lock.lock();
    changed.wait(lock, [&] { return turn == 1; });
    turn = 2;
    lock.unlock();
    changed.notify_all();
  });
  lock.lock();
  turn = 1;
  changed.notify_one();
  changed.wait(lock, [&] { return turn == 2; });
  lock.unlock();
  full.join();
}

} // namespace
} // namespace weft::light
