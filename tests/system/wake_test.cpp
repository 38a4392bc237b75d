// SPDX-License-Identifier: MIT
// One push to a group whose workers all sleep wakes one of them, not two and not none: counted by how often
// workers park.
#include <gtest/gtest.h>

#include <cstdio>
#include <thread>

#include "tests/system/scenario.hpp"
#include "weft/weft.hpp"

namespace {

using namespace std::chrono_literals;
using weft::tests::require;

// Waits until nobody has parked for longer than idle workers wait before they give memory back: everybody
// sleeps for good.
std::uint64_t settled_parks() {
  std::uint64_t seen = weft::trace::total().parks;
  for (int quiet = 0; quiet < 12;) {
    std::this_thread::sleep_for(10ms);
    const std::uint64_t now = weft::trace::total().parks;
    quiet = now == seen ? quiet + 1 : 0;
    seen = now;
  }
  return seen;
}

// From a foreign kernel thread, so that no worker runs the caller.
WEFT_SCENARIO(one_push_one_wake) {
  int status = 0;
  std::thread([&status] {
    weft::runtime::start({.workers = 8});
    constexpr std::uint64_t pushes = 20;
    std::uint64_t parks = 0;
    for (std::uint64_t i = 0; i < pushes; ++i) {
      const std::uint64_t before = settled_parks();
      weft::thread([] {}).join(); // that it returns shows that one woke
      std::this_thread::sleep_for(15ms);
      parks += weft::trace::total().parks - before; // each wake-up is followed by one
    }
    std::printf("%llu pushes, %llu parks\n", static_cast<unsigned long long>(pushes),
                static_cast<unsigned long long>(parks));
    if (parks > pushes + pushes / 10)
      status = 1; // on a loaded machine a settled worker may not have been
  }).join();
  return status;
}

TEST(wake, one_push_wakes_one_worker) {
  for (const char* pools : {"stealing", "one", "private", "priorities"}) {
    SCOPED_TRACE(pools);
    // A worker that looks for a standstill wakes up by itself for that, a second after a push.
    const auto result = weft::tests::run(
        "one_push_one_wake",
        {.environment = {{"WEFT_POOLS", pools}, {"WEFT_STANDSTILL", "off"}}, .argument = ""});
    EXPECT_EQ(result.exit_code, 0) << result.describe();
    std::printf("%s: %s", pools, result.output.c_str());
  }
}

} // namespace
