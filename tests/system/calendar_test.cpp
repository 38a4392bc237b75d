// SPDX-License-Identifier: MIT
// Steps of the clock: every wait is on CLOCK_MONOTONIC. This program replaces what reads the calendar or
// waits for a date: the one jumps by years, the other ends the process. Not under sanitizers, which replace
// the same functions.
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <random>
#include <thread>

#include "tests/system/load.hpp"
#include "tests/system/scenario.hpp"

namespace {

using namespace std::chrono_literals;
using weft::tests::require;

std::atomic<long> days{0};
std::atomic<long> questions{0}; // what the calendar was asked
std::atomic<bool> jumping{false};

WEFT_SCENARIO(calendar_jumps) {
  jumping.store(true);
  const long before = questions.load();
  std::atomic<bool> over{false};
  std::thread clockmaker([&over] {
    std::mt19937 random(3);
    while (!over.load()) {
      days.store(static_cast<long>(random() % 20'000) - 10'000);
      std::this_thread::sleep_for(1ms);
    }
  });
  const long steps = weft::tests::run_load({.length = weft::tests::load_length()});
  over.store(true);
  clockmaker.join();
  std::printf("%ld steps; the calendar was asked %ld times\n", steps, questions.load() - before);
  require(questions.load() == before, "no wait asks the calendar");
  // And the test sees who asks.
  static_cast<void>(std::chrono::system_clock::now());
  require(questions.load() == before + 1, "whoever asks is counted");
  return 0;
}
TEST(calendar, jumps_and_no_wait_cares) {
  const auto result = weft::tests::run(
      "calendar_jumps", {.environment = {},
                         .limit = std::chrono::ceil<std::chrono::seconds>(weft::tests::load_length()) + 100s,
                         .argument = ""});
  EXPECT_EQ(result.exit_code, 0) << result.describe();
  std::printf("%s", result.output.c_str());
}

long jump() {
  questions.fetch_add(1);
  return days.load() * 86'400;
}

void no_calendar(clockid_t clock, const char* what) {
  if (jumping.load() && clock == CLOCK_REALTIME)
    require(false, what);
}

} // namespace

extern "C" {
int clock_gettime(clockid_t clock, timespec* now) noexcept {
  const long result = ::syscall(SYS_clock_gettime, clock, now);
  if (clock == CLOCK_REALTIME && jumping.load())
    now->tv_sec += jump();
  return static_cast<int>(result);
}
int timerfd_create(clockid_t clock, int flags) noexcept {
  no_calendar(clock, "a timerfd on the calendar");
  return static_cast<int>(::syscall(SYS_timerfd_create, clock, flags));
}
int clock_nanosleep(clockid_t clock, int flags, const timespec* length, timespec* left) {
  no_calendar(flags != 0 ? clock : CLOCK_MONOTONIC, "a sleep up to a date");
  return ::syscall(SYS_clock_nanosleep, clock, flags, length, left) == 0 ? 0 : errno;
}
int pthread_cond_timedwait(pthread_cond_t*, pthread_mutex_t*, const timespec*) {
  require(false, "a wait up to a date");
  return EINVAL;
}
}
