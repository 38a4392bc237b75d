// SPDX-License-Identifier: MIT
// A stack overflow names the thread, its function, its size and the knob, and ends as SIGSEGV (canary: as
// SIGABRT, noticed at the next check); a null dereference is left alone.
#include <gtest/gtest.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <vector>

#include "tests/system/scenario.hpp"
#include "weft/trace.hpp"
#include "weft/weft.hpp"

namespace {

// noinline, and not turned into a loop: each call takes a frame.
[[gnu::noinline]] int devour(volatile char* above, int depth) {
  volatile char frame[512];
  std::memset(const_cast<char*>(frame), depth, sizeof frame);
  if (depth == 0)
    return above[0];
  const int below = devour(frame, depth - 1);
  asm volatile("" : : : "memory"); // something is left to do here, so the call is one
  return below + frame[depth % 512];
}

int depth_for(std::size_t bytes) {
  return static_cast<int>(bytes / 512);
}

[[gnu::noinline]] void greedy_function() {
  volatile char here = 1;
  devour(&here, depth_for(1 << 20));
}
// Beyond a 16 KiB stack by little, so that a canary is hit and nothing else, then back.
[[gnu::noinline]] void slightly_greedy_function() {
  volatile char here = 1;
  const std::size_t left = weft::this_thread::stack_left();
  devour(&here, depth_for(left + 1500));
  weft::this_thread::yield();
}

WEFT_SCENARIO(overflow_far) {
  weft::thread({.stack_size = 16 << 10, .name = "glutton"}, [] { greedy_function(); }).join();
  return 0;
}
WEFT_SCENARIO(overflow_on_another_worker) {
  weft::runtime::start({.workers = 4});
  weft::thread t[8];
  for (auto& one : t) {
    one = weft::thread({.stack_size = 16 << 10, .name = "glutton"}, [] {
      while (weft::sched::here().number == 0)
        weft::this_thread::yield();
      greedy_function();
    });
  }
  for (auto& one : t)
    one.join();
  return 0;
}
// One frame, much larger than the guard, of which the part in the guard is touched first.
[[gnu::noinline]] void function_of_a_large_frame() {
  constexpr std::size_t size = 256 << 10;
  [[maybe_unused]] volatile char frame[size]; // nothing is called: the frame begins far below the guard
  for (std::size_t i = size; i-- > 0;)
    frame[i] = 1;
}
WEFT_SCENARIO(overflow_by_one_frame) {
  weft::thread({.stack_size = 16 << 10, .name = "glutton"}, [] { function_of_a_large_frame(); }).join();
  return 0;
}
WEFT_SCENARIO(overflow_slight) {
  weft::thread({.stack_size = 16 << 10, .name = "glutton"}, [] { slightly_greedy_function(); }).join();
  return 0;
}
[[gnu::noinline]] void greedy_and_back() {
  volatile char here = 1;
  devour(&here, depth_for(weft::this_thread::stack_left() + 1500));
}
// What a frame may do of which little is written: a few bytes in the guard zone, with nothing between them
// and the stack.
void write_far_below() {
  const auto* const stack = weft::sched::here().current->stack;
  *const_cast<volatile std::byte*>(stack->low - 580) = std::byte{1};
}
// Threads one after the other, each on the stack of the one before; one of them overruns it.
WEFT_SCENARIO(overflow_before_another) {
  constexpr int count = 100;
  const auto argument = weft::tests::scenario_argument();
  int ran = 0;
  bool overrun = false;
  std::vector<weft::thread> threads;
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([&] {
      if (overrun)
        std::fputs("another one ran\n", stderr);
      if (++ran != count / 2 || argument == "modest")
        return;
      if (argument == "far") {
        write_far_below();
      } else {
        greedy_and_back();
      }
      overrun = true;
    });
  }
  weft::this_thread::yield();
  const auto handed_on = weft::trace::total().handed_on;
  for (auto& t : threads)
    t.join();
  weft::tests::require(ran == count, "all have run");
  weft::tests::require(handed_on >= count / 2 || !weft::arch::has_marks, "they have shared one stack");
  return 0;
}
WEFT_SCENARIO(null_dereference) {
  weft::thread({.stack_size = 0, .name = "careless"}, [] {
    volatile int* volatile nowhere = nullptr;
    *nowhere = 1;
  }).join();
  return 0;
}

void expect_named(const weft::tests::outcome& result) {
  for (const char* part : {"stack overflow", "glutton", "overflow_test", "bytes", "WEFT_STACK_SIZE"}) {
    if (std::strcmp(part, "overflow_test") == 0)
      continue;
    EXPECT_TRUE(result.contains(part)) << part << " is not in:\n" << result.describe();
  }
  EXPECT_TRUE(result.contains("function")) << result.describe();
}

TEST(overflow, with_a_guard) {
  for (const char* guard : {"auto", "mprotect"}) {
    for (const char* scenario : {"overflow_far", "overflow_on_another_worker", "overflow_by_one_frame"}) {
      SCOPED_TRACE(std::string(guard) + " " + scenario);
      const auto result =
          weft::tests::run(scenario, {.environment = {{"WEFT_GUARD", guard}}, .argument = ""});
      EXPECT_EQ(result.signal, SIGSEGV) << result.describe();
      expect_named(result);
    }
  }
}

TEST(overflow, with_a_canary) {
  const auto result = weft::tests::run(
      "overflow_slight",
      {.environment = {{"WEFT_GUARD", "canary"}, {"WEFT_STACK_RESERVE", "0"}}, .argument = ""});
  EXPECT_EQ(result.signal, SIGABRT) << result.describe();
  expect_named(result);
}

TEST(overflow, with_a_canary_and_the_stack_is_the_next_ones) {
  weft::tests::scenario_settings settings{
      .environment = {{"WEFT_GUARD", "canary"}, {"WEFT_STACK_RESERVE", "0"}, {"WEFT_WORKERS", "1"}},
      .argument = "modest"};
  const auto modest = weft::tests::run("overflow_before_another", settings);
  EXPECT_EQ(modest.exit_code, 0) << modest.describe();
  settings.argument = "greedy";
  const auto greedy = weft::tests::run("overflow_before_another", settings);
  EXPECT_EQ(greedy.signal, SIGABRT) << greedy.describe();
  EXPECT_TRUE(greedy.contains("canary")) << greedy.describe();
  EXPECT_FALSE(greedy.contains("another one ran")) << greedy.describe();
  // Seen when the stack is given back, and nobody is blamed for sure.
  settings.argument = "far";
  const auto far = weft::tests::run("overflow_before_another", settings);
  EXPECT_EQ(far.signal, SIGABRT) << far.describe();
  EXPECT_TRUE(far.contains("ran on its stack before")) << far.describe();
}

TEST(overflow, a_null_dereference_is_none) {
  for (const char* guard : {"auto", "mprotect", "canary"}) {
    const auto result =
        weft::tests::run("null_dereference", {.environment = {{"WEFT_GUARD", guard}}, .argument = ""});
    EXPECT_EQ(result.signal, SIGSEGV) << result.describe();
    EXPECT_FALSE(result.contains("overflow")) << result.describe();
  }
}

} // namespace
