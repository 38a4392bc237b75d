// SPDX-License-Identifier: MIT
#include "weft/door/roomy_call.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <stdexcept>
#include <thread>
#include <vector>

#include "weft/latch.hpp"
#include "weft/runtime.hpp"
#include "weft/thread.hpp"

namespace {

using namespace weft;

constexpr std::size_t least = std::size_t{256} << 10, taken = 2 * least;
constexpr bool borrows = !arch::sanitizer::watches_frames;

class roomy_call : public testing::Test {
 protected:
  roomy_call() {
    runtime::options o;
    o.workers = 2;
    runtime::start(o);
  }
  ~roomy_call() override { runtime::stop(); }

  template <class F>
  static void in_thread(std::size_t stack_size, F f) {
    thread_attributes a;
    a.stack_size = stack_size;
    weft::thread(a, f).join();
  }
};

// As a library would that knows of large stacks only: a frame that steps over any guard.
[[gnu::noinline]] std::size_t use_large_frame(std::size_t seed) {
  volatile std::byte frame[200 << 10];
  std::size_t sum = 0;
  for (std::size_t i = 0; i < sizeof frame; i += 512)
    frame[i] = static_cast<std::byte>(seed + i);
  for (std::size_t i = 0; i < sizeof frame; i += 512)
    sum += static_cast<std::size_t>(frame[i]) == ((seed + i) & 0xff) ? 1 : 0;
  return sum;
}

TEST_F(roomy_call, gives_a_small_thread_a_large_frame) {
  if (!borrows)
    GTEST_SKIP() << "no stack is borrowed under a sanitizer";
  in_thread(64 << 10, [] {
    const std::size_t before = this_thread::stack_left();
    EXPECT_LT(before, least);
    std::size_t left = 0, sum = 0;
    door::call_with_room(least, taken, [&] {
      left = this_thread::stack_left();
      sum = use_large_frame(7);
    });
    EXPECT_GT(left, taken - (16 << 10));
    EXPECT_EQ(sum, 400U);
    EXPECT_LT(this_thread::stack_left(), least);
  });
}

TEST_F(roomy_call, stays_where_there_is_room) {
  in_thread(1 << 20, [] {
    const std::size_t before = this_thread::stack_left();
    std::size_t left = 0;
    door::call_with_room(least, taken, [&left] { left = this_thread::stack_left(); });
    EXPECT_LT(before - left, 4096U);
  });
  in_thread(64 << 10, [] { // once is enough
    std::size_t outer = 0, inner = 0;
    door::call_with_room(least, taken, [&] {
      outer = this_thread::stack_left();
      door::call_with_room(least, taken, [&inner] { inner = this_thread::stack_left(); });
    });
    EXPECT_LT(outer - inner, 4096U);
  });
  int calls = 0;
  std::thread([&calls] { door::call_with_room(least, taken, [&calls] { ++calls; }); }).join();
  EXPECT_EQ(calls, 1);
}

// The call is the thread's: it waits in it, and others run meanwhile, which may do the same.
TEST_F(roomy_call, may_wait) {
  constexpr int count = 40;
  weft::latch all(count);
  std::vector<weft::thread> threads;
  std::vector<weft::thread::id> inside(count);
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([&all, &inside, i] {
      door::call_with_room(least, taken, [&] {
        all.arrive_and_wait();
        this_thread::yield();
        inside[static_cast<std::size_t>(i)] = this_thread::get_id();
      });
      EXPECT_EQ(inside[static_cast<std::size_t>(i)], this_thread::get_id());
      EXPECT_LT(this_thread::stack_left(), least);
    });
  }
  for (weft::thread& t : threads)
    t.join();
}

TEST_F(roomy_call, throws_what_the_call_throws) {
  in_thread(64 << 10, [] {
    EXPECT_THROW(door::call_with_room(least, taken, [] { throw std::runtime_error("it"); }),
                 std::runtime_error);
    EXPECT_LT(this_thread::stack_left(), least);
  });
}

} // namespace
