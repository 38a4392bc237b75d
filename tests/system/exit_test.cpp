// SPDX-License-Identifier: MIT
// The end of a process with threads still alive: running, ready, blocked, asleep; from main, from another
// worker, by every way there is. Static objects may use the runtime in their destructors.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <thread>

#include "tests/system/scenario.hpp"
#include "weft/preemption.hpp"
#include "weft/weft.hpp"

namespace {

using namespace std::chrono_literals;
using weft::tests::require;

std::atomic<bool> statics_destroyed{false};
weft::counting_semaphore<> gate(0);

// Touches what a destroyed static would be: threads that still run after that would be found by sanitizers
// and by this flag.
struct late {
  ~late() {
    std::puts("static destructor");
    std::fflush(stdout);
    statics_destroyed.store(true);
  }
} last_words;

// Threads in every state.
void leave_threads_alive() {
  weft::runtime::start({.workers = 4});
  for (int i = 0; i < 4; ++i) {
    weft::thread([] {
      for (;;)
        weft::this_thread::yield();
    }).detach();
    weft::thread([] { gate.acquire(); }).detach();
    weft::thread([] {
      for (;;)
        weft::this_thread::sleep_for(100us);
    }).detach();
    weft::thread([] { weft::this_thread::sleep_for(1h); }).detach();
    weft::thread([] {
      for (;;)
        weft::thread([] {}).join();
    }).detach();
  }
  weft::this_thread::sleep_for(10ms);
}

WEFT_SCENARIO(exit_by_return) {
  leave_threads_alive();
  return 7;
}
WEFT_SCENARIO(exit_from_main) {
  leave_threads_alive();
  std::exit(7);
}
WEFT_SCENARIO(exit_from_a_thread) {
  leave_threads_alive();
  // Busy workers steal nothing; what a foreign kernel thread creates goes to them in turn.
  std::thread([] {
    static std::atomic<bool> claimed{false};
    for (int i = 0; i < 8; ++i) {
      weft::thread([] {
        if (weft::sched::here().number != 0 && !claimed.exchange(true))
          std::exit(7);
      }).detach();
    }
  }).join();
  gate.acquire();
  return 1;
}
WEFT_SCENARIO(exit_from_a_foreign_kernel_thread) {
  leave_threads_alive();
  std::thread([] { std::exit(7); }).join();
  return 1;
}
WEFT_SCENARIO(exit_from_a_tasklet) {
  leave_threads_alive();
  weft::tasklet([] { std::exit(7); }).join();
  return 1;
}
// It keeps its worker, the only one that does not stand still, whatever ticks come.
template <weft::preemption Kind>
int exit_from_a_preemptible_thread() {
  leave_threads_alive();
  if (!weft::can_preempt(Kind))
    return 7;
  weft::preempt::set_interval(100us);
  weft::thread_attributes a;
  a.preemption = Kind;
  for (int i = 0; i < 4; ++i) {
    weft::thread(a, [] {
      while (!statics_destroyed)
        asm volatile("");
    }).detach();
  }
  weft::thread(a, [] { std::exit(7); }).join();
  return 1;
}
WEFT_SCENARIO(exit_from_a_thread_of_own_tls) {
  return exit_from_a_preemptible_thread<weft::preemption::own_tls>();
}
WEFT_SCENARIO(exit_from_a_thread_of_own_kernel_thread) {
  return exit_from_a_preemptible_thread<weft::preemption::own_kernel_thread>();
}
WEFT_SCENARIO(exit_from_a_thread_of_bound_tls) {
  return exit_from_a_preemptible_thread<weft::preemption::bound_tls>();
}
WEFT_SCENARIO(exit_at_once) {
  leave_threads_alive();
  ::_exit(7);
}
WEFT_SCENARIO(exit_quickly) {
  leave_threads_alive();
  weft::thread([] { std::quick_exit(7); }).join();
  return 1;
}
WEFT_SCENARIO(exit_while_main_blocks) {
  leave_threads_alive();
  weft::thread([] {
    weft::this_thread::sleep_for(1ms);
    std::exit(7);
  }).detach();
  gate.acquire();
  return 1;
}
WEFT_SCENARIO(exit_without_use) {
  return 7;
}
WEFT_SCENARIO(exit_after_stop) {
  for (int i = 0; i < 20; ++i) {
    weft::runtime::scope use;
    weft::thread([] {}).join();
  }
  return weft::runtime::running() ? 1 : 7;
}
// Threads that compute, make no decision and are preempted meanwhile.
WEFT_SCENARIO(exit_while_threads_are_preempted) {
  weft::runtime::start({.workers = 3});
  for (const auto kind : {weft::preemption::own_tls, weft::preemption::own_kernel_thread,
                          weft::preemption::bound_tls, weft::preemption::signal_yield}) {
    if (!weft::can_preempt(kind))
      continue;
    for (int i = 0; i < 3; ++i) {
      weft::thread({.preemption = kind}, [] {
        for (;;)
          asm volatile("");
      }).detach();
    }
  }
  std::thread([] { std::this_thread::sleep_for(20ms); }).join();
  return 7;
}
// A joinable handle in a static object is the user's error and ends as std::thread does; a detached one is
// fine.
WEFT_SCENARIO(exit_with_atexit_that_uses_threads) {
  leave_threads_alive();
  std::atexit([] { std::puts(weft::runtime::running() ? "running" : "stopped"); });
  return 7;
}

// Who counted themselves as users count themselves out in destructors that run after the workers stand still.
std::atomic<bool> stops_late{false};
struct late_user {
  ~late_user() {
    if (stops_late && weft::runtime::stop())
      std::_Exit(1);
  }
} stops_last;
WEFT_SCENARIO(exit_with_a_late_stop) {
  stops_late = true;
  leave_threads_alive();
  return 7;
}
// A group of the program's own does not stand still: it is destroyed as it would be before exit().
WEFT_SCENARIO(exit_with_a_group_in_a_static) {
  static std::unique_ptr<weft::worker_group> own;
  static std::atomic<int> ran{0};
  std::atexit([] {
    weft::thread_attributes there;
    there.pool = &own->next_pool();
    weft::thread(there, [] { ran = 1; }).join();
    own.reset();
    require(ran == 1, "the group runs");
  });
  weft::group_options two;
  two.workers = 2;
  own = std::make_unique<weft::worker_group>(two);
  leave_threads_alive();
  return 7;
}

class exits : public ::testing::TestWithParam<const char*> {};
TEST_P(exits, with_its_code) {
  for (int i = 0; i < 20; ++i) {
    const auto result =
        weft::tests::run(GetParam(), {.environment = {}, .limit = std::chrono::seconds(20), .argument = ""});
    ASSERT_EQ(result.exit_code, 7) << result.describe();
  }
}
INSTANTIATE_TEST_SUITE_P(ways, exits,
                         ::testing::Values("exit_by_return", "exit_from_main", "exit_from_a_thread",
                                           "exit_from_a_foreign_kernel_thread", "exit_from_a_tasklet",
                                           "exit_from_a_thread_of_own_tls",
                                           "exit_from_a_thread_of_own_kernel_thread",
                                           "exit_from_a_thread_of_bound_tls", "exit_at_once", "exit_quickly",
                                           "exit_while_main_blocks", "exit_without_use", "exit_after_stop",
                                           "exit_while_threads_are_preempted",
                                           "exit_with_atexit_that_uses_threads", "exit_with_a_late_stop",
                                           "exit_with_a_group_in_a_static"),
                         [](const auto& info) { return std::string(info.param); });

WEFT_SCENARIO(exit_stands_still) {
  static std::atomic<long> turns{0};
  weft::runtime::start({.workers = 4});
  for (int i = 0; i < 8; ++i) {
    weft::thread([] {
      for (;;) {
        turns.fetch_add(1);
        weft::this_thread::yield();
      }
    }).detach();
  }
  static struct watcher {
    ~watcher() {
      const long before = turns.load();
      std::this_thread::sleep_for(20ms);
      std::puts(turns.load() == before ? "stood still" : "still running");
    }
  } w;
  weft::this_thread::sleep_for(5ms);
  return 7;
}
// Threads that make scheduling decisions have stopped when static destructors run.
TEST(exit_, static_destructors_run_alone) {
  const auto result = weft::tests::run("exit_stands_still");
  EXPECT_EQ(result.exit_code, 7) << result.describe();
  EXPECT_TRUE(result.contains("static destructor")) << result.describe();
}

WEFT_SCENARIO(terminate_by_exception) {
  weft::thread([] { throw 42; }).join();
  return 0;
}
WEFT_SCENARIO(terminate_by_runtime_error) {
  weft::thread t([] { throw std::runtime_error("the reason"); });
  t.join();
  return 0;
}
WEFT_SCENARIO(terminate_joinable) {
  {
    weft::thread t([] {});
  }
  return 0;
}
WEFT_SCENARIO(terminate_with_name) {
  weft::thread({.name = "the-thrower"}, [] { throw std::runtime_error("the reason"); }).join();
  return 0;
}
WEFT_SCENARIO(terminate_in_tasklet) {
  weft::tasklet([] { throw std::runtime_error("the reason"); }).join();
  return 0;
}
// A name, or the function where there is none; the C++ run time's own words come after it.
TEST(exit_, an_uncaught_exception_names_its_thread) {
  const auto named = weft::tests::run("terminate_with_name");
  EXPECT_EQ(named.signal, SIGABRT) << named.describe();
  EXPECT_TRUE(named.contains("an exception that nobody catches, in thread \"the-thrower\""))
      << named.describe();
  EXPECT_TRUE(named.contains("the reason")) << named.describe();
  const auto unnamed = weft::tests::run("terminate_in_tasklet");
  EXPECT_EQ(unnamed.signal, SIGABRT) << unnamed.describe();
  EXPECT_TRUE(unnamed.contains("in tasklet")) << unnamed.describe();
  // gcc names the lambda by the function around it, clang by its place.
  EXPECT_TRUE(unnamed.contains("terminate_in_tasklet") || unnamed.contains("exit_test.cpp"))
      << unnamed.describe();
}

TEST(exit_, an_uncaught_exception_prints_and_aborts) {
  for (const char* name : {"terminate_by_exception", "terminate_by_runtime_error", "terminate_joinable"}) {
    const auto result = weft::tests::run(name);
    EXPECT_EQ(result.signal, SIGABRT) << result.describe();
    EXPECT_TRUE(result.contains("terminate called")) << result.describe();
  }
  EXPECT_TRUE(weft::tests::run("terminate_by_runtime_error").contains("the reason"));
}

// --- shared libraries ---

using simple = int (*)();

simple function_of(void* library, const char* name) {
  auto* f = reinterpret_cast<simple>(::dlsym(library, name));
  require(f != nullptr, name);
  return f;
}
void* open_library(const char* path) {
  void* library = ::dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    std::fprintf(stderr, "%s\n", ::dlerror());
  require(library != nullptr, path);
  return library;
}

// Two libraries that each start and stop the runtime, in the order given: a = start of the first, A = its
// stop, u = its use.
WEFT_SCENARIO(two_libraries) {
  void* libraries[2] = {open_library(WEFT_USER_ONE), open_library(WEFT_USER_TWO)};
  for (const char c : weft::tests::scenario_argument()) {
    const bool second = c == 'b' || c == 'B' || c == 'v';
    void* library = libraries[second ? 1 : 0];
    const char* name = c == 'a' || c == 'b' ? "user_start" : c == 'A' || c == 'B' ? "user_stop" : "user_use";
    require(function_of(library, name)() == 0, name);
  }
  return 0;
}
TEST(shared_libraries, start_and_stop_in_any_order) {
  for (const char* order :
       {"auAbvB", "abuvAB", "abuvBA", "abAvB", "abBuA", "uv", "auAbvBauA", "uabAB", "aubvABab"}) {
    const auto result = weft::tests::run(
        "two_libraries", {.environment = {}, .limit = std::chrono::seconds(20), .argument = order});
    EXPECT_EQ(result.exit_code, 0) << order << ": " << result.describe();
  }
}

} // namespace
