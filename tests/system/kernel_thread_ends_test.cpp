// SPDX-License-Identifier: MIT
// pthread_exit() and pthread_cancel() in a program that has preemptible threads.
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

#include "tests/system/scenario.hpp"
#include "weft/preempt/ticks.hpp"
#include "weft/weft.hpp"

namespace {

using namespace std::chrono_literals;
using weft::preemption;
using weft::tests::require;

constexpr int cannot = 77; // exit code: this machine has no such threads

preemption kind_of_argument() {
  return static_cast<preemption>(std::stoi(weft::tests::scenario_argument()));
}
weft::thread_attributes attributes() {
  weft::thread_attributes a;
  a.preemption = kind_of_argument();
  return a;
}
void start() {
  require(weft::runtime::start({.workers = 2}), "start");
  weft::preempt::set_interval(200us);
}
bool may_run() {
  return kind_of_argument() == preemption::none || weft::can_preempt(kind_of_argument());
}
std::size_t preemptions() {
  return weft::preempt::counts().preemptions;
}
// Until somebody has been preempted, if they can be.
void compute(std::atomic<long>& rounds) {
  const bool cooperative = kind_of_argument() == preemption::none;
  for (long i = 0; i < 1'000'000 || (!cooperative && preemptions() == 0); ++i)
    asm volatile("");
  ++rounds;
}

// --- threads of Weft ---

struct told_at_its_end {
  ~told_at_its_end() { static_cast<void>(!::write(STDOUT_FILENO, "unwound\n", 8)); }
};

WEFT_SCENARIO(thread_exits) {
  if (!may_run())
    return cannot;
  start();
  weft::thread(attributes(), [] {
    const told_at_its_end mine;
    ::pthread_exit(nullptr);
  }).join();
  return 1;
}

WEFT_SCENARIO(thread_cancels_itself) {
  if (!may_run())
    return cannot;
  start();
  weft::thread(attributes(), [] {
    const told_at_its_end mine;
    ::pthread_cancel(::pthread_self());
    ::pthread_testcancel();
  }).join();
  return 1;
}

// --- main() ---

std::atomic<long> computed{0};

void leave_threads_behind() {
  start();
  for (int t = 0; t < 4; ++t)
    weft::thread(attributes(), [] { compute(computed); }).detach();
  weft::thread([] { // whose timer is worker 0's
    weft::this_thread::sleep_for(5ms);
    ++computed;
  })
      .detach();
}

// The process ends by itself, and successfully, after the last thread.
WEFT_SCENARIO(main_exits) {
  if (!may_run())
    return cannot;
  static_cast<void>(std::atexit([] {
    if (computed != 5)
      ::_exit(1);
    static_cast<void>(!::write(STDOUT_FILENO, "all\n", 4));
  }));
  leave_threads_behind();
  ::pthread_exit(nullptr);
}

WEFT_SCENARIO(main_exits_and_a_thread_ends_the_process) {
  if (!may_run())
    return cannot;
  leave_threads_behind();
  weft::thread(attributes(), [] {
    while (computed != 5)
      weft::this_thread::yield();
    static_cast<void>(!::write(STDOUT_FILENO, "all\n", 4));
    std::exit(0);
  }).detach();
  ::pthread_exit(nullptr);
}

// --- kernel threads of the program's own ---

void* exit_with_threads_behind(void*) {
  for (int t = 0; t < 4; ++t)
    weft::thread(attributes(), [] { compute(computed); }).detach();
  weft::thread(attributes(), [] { compute(computed); }).join();
  ::pthread_exit(&computed);
}
void* wait_to_be_cancelled(void*) {
  weft::thread(attributes(), [] { compute(computed); }).join();
  for (;;)
    ::pause();
}

WEFT_SCENARIO(others_exit_and_are_cancelled) {
  if (!may_run())
    return cannot;
  start();
  constexpr int each = 10;
  std::vector<pthread_t> exits(each), cancelled(each);
  for (pthread_t& t : exits)
    require(::pthread_create(&t, nullptr, &exit_with_threads_behind, nullptr) == 0, "pthread_create");
  for (pthread_t& t : cancelled)
    require(::pthread_create(&t, nullptr, &wait_to_be_cancelled, nullptr) == 0, "pthread_create");
  weft::thread joins(attributes(), [&] { // which blocks in the kernel
    for (const pthread_t t : exits) {
      void* result = nullptr;
      require(::pthread_join(t, &result) == 0 && result == &computed, "it exited");
    }
    for (const pthread_t t : cancelled) {
      void* result = nullptr;
      require(::pthread_cancel(t) == 0, "pthread_cancel");
      require(::pthread_join(t, &result) == 0 && result == PTHREAD_CANCELED, "it was cancelled");
    }
  });
  joins.join();
  while (computed < each * 5)
    weft::this_thread::yield();
  std::atomic<long> fresh{0};
  weft::thread(attributes(), [&fresh] { compute(fresh); }).join();
  require(fresh == 1, "all is as before");
  require(weft::runtime::stop(), "stop");
  return 0;
}

const char* name_of(preemption kind) {
  constexpr const char* names[] = {"none", "signal_yield", "own_tls", "own_kernel_thread", "bound_tls"};
  return names[static_cast<unsigned>(kind)];
}

class kernel_thread_ends : public ::testing::TestWithParam<preemption> {
 protected:
  static weft::tests::outcome of(const char* scenario) {
    return weft::tests::run(
        scenario,
        {.environment = {}, .limit = 60s, .argument = std::to_string(static_cast<unsigned>(GetParam()))});
  }
};
INSTANTIATE_TEST_SUITE_P(each, kernel_thread_ends,
                         ::testing::Values(preemption::none, preemption::signal_yield, preemption::own_tls,
                                           preemption::own_kernel_thread, preemption::bound_tls),
                         [](const auto& info) { return name_of(info.param); });

TEST_P(kernel_thread_ends, a_thread_that_calls_pthread_exit_ends_the_process_with_a_sentence) {
  for (const char* scenario : {"thread_exits", "thread_cancels_itself"}) {
    SCOPED_TRACE(scenario);
    const auto result = of(scenario);
    if (result.exit_code == cannot)
      GTEST_SKIP() << "not on this machine";
    EXPECT_EQ(result.signal, SIGABRT) << result.describe();
    EXPECT_TRUE(result.contains("unwound\nweft: ")) << result.describe();
    EXPECT_TRUE(result.contains("weft::this_thread::exit()")) << result.describe();
  }
}

TEST_P(kernel_thread_ends, after_main_has_called_pthread_exit_all_threads_end_and_then_the_process) {
  for (const char* scenario : {"main_exits", "main_exits_and_a_thread_ends_the_process"}) {
    SCOPED_TRACE(scenario);
    const auto result = of(scenario);
    if (result.exit_code == cannot)
      GTEST_SKIP() << "not on this machine";
    EXPECT_EQ(result.exit_code, 0) << result.describe();
    EXPECT_EQ(result.output, "all\n") << result.describe();
  }
}

TEST_P(kernel_thread_ends, others_that_exit_or_are_cancelled_are_nothing_to_threads_of_weft) {
  const auto result = of("others_exit_and_are_cancelled");
  if (result.exit_code == cannot)
    GTEST_SKIP() << "not on this machine";
  EXPECT_EQ(result.exit_code, 0) << result.describe();
}

} // namespace
