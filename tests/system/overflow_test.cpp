// SPDX-License-Identifier: MIT
// A stack overflow names the thread, its function, its size and the knob, and ends as SIGSEGV (canary: as
// SIGABRT, noticed at the next check); a null dereference is left alone.
#include <gtest/gtest.h>

#include <csignal>
#include <cstring>

#include "tests/system/scenario.hpp"
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

TEST(overflow, a_null_dereference_is_none) {
  for (const char* guard : {"auto", "mprotect", "canary"}) {
    const auto result =
        weft::tests::run("null_dereference", {.environment = {{"WEFT_GUARD", guard}}, .argument = ""});
    EXPECT_EQ(result.signal, SIGSEGV) << result.describe();
    EXPECT_FALSE(result.contains("overflow")) << result.describe();
  }
}

} // namespace
