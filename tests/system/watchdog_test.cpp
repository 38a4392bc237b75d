// SPDX-License-Identifier: MIT
// A thread that spins without yielding until 1,000 others have run: preemptible, it lets them; cooperative,
// it is named by the watchdog, once, with its calls. Nothing else is.
#include <gtest/gtest.h>

#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "tests/system/scenario.hpp"
#include "weft/weft.hpp"

using weft::tests::outcome;
using weft::tests::require;
using weft::tests::run;

namespace {

constexpr int others = 1000;
std::atomic<int> done{0};

std::int64_t cpu_ns() {
  timespec now;
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

} // namespace

// With external linkage, to be found by name among the calls.
extern "C" [[gnu::noinline]] void spins_until_all_are_done() {
  while (done.load(std::memory_order_relaxed) < others)
    asm volatile("" ::: "memory");
}
extern "C" [[gnu::noinline]] void blocks_in_the_kernel() {
  const timespec length{0, 700'000'000};
  ::nanosleep(&length, nullptr);
  asm volatile("" ::: "memory"); // something is left to do here, so the call is one
}

namespace {

// The argument: which kind of preemption.
WEFT_SCENARIO(spinner_beside_a_thousand) {
  weft::runtime::start({.workers = 1});
  weft::thread_attributes a;
  a.preemption = static_cast<weft::preemption>(std::atoi(weft::tests::scenario_argument().c_str()));
  a.name = "spinner";
  std::vector<weft::thread> all;
  for (int i = 0; i < others; ++i)
    all.emplace_back([] { ++done; });
  weft::thread spinner(a, [] { spins_until_all_are_done(); });
  spinner.join(); // the newest: it runs before the others
  for (weft::thread& t : all)
    t.join();
  weft::runtime::stop();
  return 0;
}

// Nothing that holds a worker: those that yield, wait, sleep, are preempted; workers that have nothing to do.
WEFT_SCENARIO(well_behaved) {
  weft::runtime::start({.workers = 3});
  std::atomic<bool> enough{false};
  std::vector<weft::thread> all;
  all.emplace_back([&] {
    while (!enough)
      weft::this_thread::yield();
  });
  all.emplace_back([&] {
    while (!enough)
      weft::this_thread::sleep_for(std::chrono::milliseconds(1));
  });
  if (weft::can_preempt(weft::preemption::own_tls)) {
    weft::thread_attributes a;
    a.preemption = weft::preemption::own_tls;
    for (int i = 0; i < 6; ++i) {
      all.emplace_back(a, [&] {
        while (!enough)
          asm volatile("" ::: "memory");
      });
    }
  }
  weft::this_thread::sleep_for(std::chrono::milliseconds(900));
  enough = true;
  for (weft::thread& t : all)
    t.join();
  weft::this_thread::sleep_for(std::chrono::milliseconds(500)); // all idle
  weft::runtime::stop();
  return 0;
}

WEFT_SCENARIO(blocked_twice) {
  weft::runtime::start({.workers = 1});
  for (int i = 0; i < 2; ++i) {
    weft::thread({.name = "blocked"}, [] { blocks_in_the_kernel(); }).join(); // the question ends its sleep
    weft::this_thread::sleep_for(std::chrono::milliseconds(300)); // the answer is written meanwhile
  }
  weft::runtime::stop();
  return 0;
}

struct seen {
  std::mutex lock;
  int reports = 0;
  std::string thread, function;
  std::size_t calls = 0;
};

WEFT_SCENARIO(reported_to_the_program) {
  weft::runtime::start({.workers = 1});
  static seen all;
  weft::preempt::set_watchdog(
      std::chrono::milliseconds(50),
      [](const weft::preempt::held_worker& what, void* argument) {
        seen& s = *static_cast<seen*>(argument);
        const std::scoped_lock held(s.lock);
        ++s.reports;
        s.thread = what.thread;
        s.function = what.function;
        s.calls = what.calls.size();
      },
      &all);
  weft::thread({.name = "blocked"}, [] { blocks_in_the_kernel(); }).join();
  weft::preempt::set_watchdog(std::chrono::milliseconds(0));
  require(all.reports == 1 && all.thread == "blocked" && all.calls > 2, "one report");
  require(all.function.find("lambda") != std::string::npos, "the function");
  weft::thread([] { blocks_in_the_kernel(); }).join();
  require(all.reports == 1, "none when it is off");
  bool refused = false;
  try {
    weft::preempt::set_watchdog(std::chrono::milliseconds(-1));
  } catch (const std::system_error&) {
    refused = true;
  }
  require(refused, "a limit that is none is refused");
  weft::runtime::stop();
  return 0;
}

// A looking watchdog costs next to nothing where workers sleep.
WEFT_SCENARIO(idle_cpu) {
  weft::runtime::start({.workers = 2});
  weft::this_thread::sleep_for(std::chrono::milliseconds(100));
  const std::int64_t before = cpu_ns();
  weft::this_thread::sleep_for(std::chrono::milliseconds(1000));
  require(cpu_ns() - before < 200'000'000, "an idle process uses no CPU");
  weft::runtime::stop();
  return 0;
}

std::size_t count_of(const std::string& text, const std::string& all) {
  std::size_t count = 0;
  for (std::size_t at = all.find(text); at != std::string::npos; at = all.find(text, at + 1))
    ++count;
  return count;
}

weft::tests::scenario_settings with_limit(int ms, std::string argument = {},
                                          std::chrono::seconds patience = std::chrono::seconds(60)) {
  return {.environment = {{"WEFT_WATCHDOG", std::to_string(ms)}},
          .limit = patience,
          .argument = std::move(argument)};
}

constexpr const char* report = "watchdog: thread \"";

TEST(watchdog, names_a_thread_that_spins_once_with_its_calls) {
  const outcome o = run("spinner_beside_a_thousand", with_limit(100, "0", std::chrono::seconds(3)));
  EXPECT_TRUE(o.hung) << o.describe(); // it would spin for ever
  EXPECT_EQ(count_of(report, o.output), 1U + count_of("thread \"main\"", o.output)) << o.describe();
  EXPECT_TRUE(o.contains("thread \"spinner\"")) << o.describe();
  EXPECT_TRUE(o.contains("lambda")) << o.describe();
  EXPECT_TRUE(o.contains("#0 spins_until_all_are_done+")) << o.describe();
}

TEST(watchdog, has_nothing_to_say_of_one_that_is_preempted) {
  for (const weft::preemption kind : {weft::preemption::signal_yield, weft::preemption::own_tls}) {
    if (!weft::can_preempt(kind))
      continue;
    const outcome o =
        run("spinner_beside_a_thousand", with_limit(500, std::to_string(static_cast<int>(kind))));
    EXPECT_EQ(o.exit_code, 0) << o.describe();
    EXPECT_FALSE(o.contains(report)) << o.describe();
  }
}

TEST(watchdog, has_nothing_to_say_of_well_behaved_threads_and_idle_workers) {
  const outcome o = run("well_behaved", with_limit(250));
  EXPECT_EQ(o.exit_code, 0) << o.describe();
  EXPECT_FALSE(o.contains(report)) << o.describe();
}

TEST(watchdog, reports_each_occurrence_of_a_call_that_blocks) {
  const outcome o = run("blocked_twice", with_limit(100));
  EXPECT_EQ(o.exit_code, 0) << o.describe();
  EXPECT_EQ(count_of("thread \"blocked\"", o.output), 2U) << o.describe();
  EXPECT_TRUE(o.contains("blocks_in_the_kernel+")) << o.describe();
}

TEST(watchdog, reports_to_the_program_and_can_be_switched_off) {
  const outcome o = run("reported_to_the_program");
  EXPECT_EQ(o.exit_code, 0) << o.describe();
}

TEST(watchdog, says_nothing_unless_asked) {
  const outcome o = run("blocked_twice");
  EXPECT_EQ(o.exit_code, 0) << o.describe();
  EXPECT_EQ(o.output, "") << o.describe();
}

TEST(watchdog, sleeps_beside_idle_workers) {
  const outcome o = run("idle_cpu", with_limit(100));
  EXPECT_EQ(o.exit_code, 0) << o.describe();
}

} // namespace
