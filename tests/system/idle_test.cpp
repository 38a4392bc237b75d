// SPDX-License-Identifier: MIT
// Workers that have nothing to do cost nothing, whatever everybody waits for. The bound is a requirement on
// behaviour, not on speed: 0.1 % of a core is two milliseconds of processor time in the two seconds watched
// (WEFT_IDLE_SECONDS).
#include <gtest/gtest.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <stop_token>
#include <thread>

#include "tests/system/scenario.hpp"
#include "weft/weft.hpp"

namespace {

using namespace std::chrono_literals;
using weft::tests::require;

double seconds_to_watch() {
  const char* given = std::getenv("WEFT_IDLE_SECONDS");
  return given != nullptr ? std::atof(given) : 2.0;
}

double processor_seconds() {
  timespec t{};
  require(::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t) == 0, "clock_gettime");
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

void kernel_sleep(double seconds) {
  const timespec length{
      static_cast<time_t>(seconds),
      static_cast<long>(1e9 * (seconds - static_cast<double>(static_cast<time_t>(seconds))))};
  require(::nanosleep(&length, nullptr) == 0, "nanosleep");
}

// Watches from a kernel thread of its own, then calls `release`.
template <class Release>
std::thread watch(Release release) {
  return std::thread([release] {
    kernel_sleep(0.2); // everybody gets to where he waits
    const double before = processor_seconds();
    const double length = seconds_to_watch();
    kernel_sleep(length);
    const double used = processor_seconds() - before;
    std::printf("used %.6f s of processor time in %.1f s (%.4f %%)\n", used, length, 100 * used / length);
    std::fflush(stdout);
    require(weft::tests::sanitized() || used < 0.001 * length, "idle workers burn processor time");
    release();
  });
}

void start_workers() {
  weft::runtime::start({.workers = 4});
}

WEFT_SCENARIO(idle_nothing) {
  start_workers();
  for (int i = 0; i < 100; ++i)
    weft::thread([] {}).join();
  watch([] {}).join(); // main blocks in the kernel
  return 0;
}

WEFT_SCENARIO(idle_main_joins) {
  start_workers();
  weft::binary_semaphore gate(0);
  weft::thread t([&] { gate.acquire(); });
  auto watcher = watch([&] { gate.release(); });
  t.join();
  watcher.join();
  return 0;
}

WEFT_SCENARIO(idle_mutex) {
  start_workers();
  weft::mutex m;
  m.lock();
  weft::thread t[8];
  for (auto& one : t)
    one = weft::thread([&] { std::scoped_lock held(m); });
  weft::this_thread::sleep_for(50ms);
  watch([] {}).join();
  m.unlock();
  for (auto& one : t)
    one.join();
  return 0;
}

WEFT_SCENARIO(idle_condition_variable) {
  start_workers();
  weft::mutex m;
  weft::condition_variable changed;
  bool open = false;
  weft::thread t[8];
  for (auto& one : t) {
    one = weft::thread([&] {
      std::unique_lock held(m);
      changed.wait(held, [&] { return open; });
    });
  }
  auto watcher = watch([&] {
    std::scoped_lock held(m);
    open = true;
    changed.notify_all();
  });
  for (auto& one : t)
    one.join();
  watcher.join();
  return 0;
}

WEFT_SCENARIO(idle_sleep) {
  start_workers();
  const auto length = std::chrono::duration<double>(seconds_to_watch() + 1);
  weft::thread t[8];
  for (auto& one : t)
    one = weft::thread([&] { weft::this_thread::sleep_for(length); });
  auto watcher = watch([] {});
  for (auto& one : t)
    one.join();
  watcher.join();
  return 0;
}

WEFT_SCENARIO(idle_timed_wait) {
  start_workers();
  weft::binary_semaphore gate(0);
  weft::thread t([&] { require(gate.try_acquire_for(1h), "acquired"); });
  auto watcher = watch([&] { gate.release(); });
  t.join();
  watcher.join();
  return 0;
}

WEFT_SCENARIO(idle_future) {
  start_workers();
  weft::promise<int> p;
  auto f = p.get_future();
  auto watcher = watch([&] { p.set_value(7); });
  require(f.get() == 7, "value");
  watcher.join();
  return 0;
}

WEFT_SCENARIO(idle_channel) {
  start_workers();
  weft::channel<int> c(4);
  weft::thread t([&] { require(c.receive().value == 7, "received"); });
  auto watcher = watch([&] { c.send(7); });
  t.join();
  watcher.join();
  return 0;
}

WEFT_SCENARIO(idle_semaphore) {
  start_workers();
  weft::counting_semaphore<> permits(0);
  weft::thread t[8];
  for (auto& one : t)
    one = weft::thread([&] { permits.acquire(); });
  auto watcher = watch([&] { permits.release(8); });
  for (auto& one : t)
    one.join();
  watcher.join();
  return 0;
}

WEFT_SCENARIO(idle_foreign_waits) {
  start_workers();
  weft::binary_semaphore gate(0);
  weft::mutex m;
  m.lock();
  std::thread foreign([&] { gate.acquire(); });
  std::thread other([&] { std::scoped_lock held(m); });
  watch([&] { gate.release(); }).join();
  m.unlock();
  foreign.join();
  other.join();
  return 0;
}

WEFT_SCENARIO(idle_suspended) {
  start_workers();
  weft::thread t([] { weft::this_thread::suspend(); });
  auto watcher = watch([&] { t.resume(); });
  watcher.join();
  t.join();
  return 0;
}

WEFT_SCENARIO(idle_latch_and_barrier) {
  start_workers();
  weft::latch gate(2);
  weft::barrier meeting(3);
  weft::thread t[2];
  for (auto& one : t) {
    one = weft::thread([&] {
      gate.arrive_and_wait();
      meeting.arrive_and_wait();
    });
  }
  auto watcher = watch([] {});
  watcher.join();
  meeting.arrive_and_wait();
  for (auto& one : t)
    one.join();
  return 0;
}

WEFT_SCENARIO(idle_stop_token) {
  start_workers();
  std::stop_source source;
  weft::counting_semaphore<> permits(0);
  weft::thread t([&] { require(!permits.try_acquire_for(1h, source.get_token()), "stopped"); });
  auto watcher = watch([&] { source.request_stop(); });
  t.join();
  watcher.join();
  return 0;
}

int wait_for_a_pipe(weft::io::mechanism source) {
  weft::runtime::start({.workers = 4, .io = source});
  int ends[2];
  require(::pipe(ends) == 0, "a pipe");
  weft::thread t[8];
  for (auto& one : t) {
    one = weft::thread([&] {
      char text = 0;
      require(weft::io::read(ends[0], &text, 1, 1h) == 1, "read");
    });
  }
  auto watcher = watch([&] { weft::io::write(ends[1], "12345678", 8); });
  for (auto& one : t)
    one.join();
  watcher.join();
  return 0;
}

WEFT_SCENARIO(idle_io) {
  return wait_for_a_pipe(weft::io::mechanism::epoll);
}
WEFT_SCENARIO(idle_io_uring) {
  return wait_for_a_pipe(weft::io::mechanism::uring);
}

class idle : public ::testing::TestWithParam<const char*> {};

// Every kind of wait under every arrangement of pools, all at once: each process counts its own time.
TEST_P(idle, costs_nothing) {
  constexpr int count = 4;
  const char* arrangements[count] = {"stealing", "one", "private", "priorities"};
  std::vector<std::thread> runners;
  weft::tests::outcome results[count];
  for (int i = 0; i < count; ++i) {
    runners.emplace_back([&, i] {
      results[i] = weft::tests::run(
          GetParam(), {.environment = {{"WEFT_POOLS", arrangements[i]}}, .limit = 60s, .argument = ""});
    });
  }
  for (auto& r : runners)
    r.join();
  for (int i = 0; i < count; ++i) {
    SCOPED_TRACE(arrangements[i]);
    EXPECT_EQ(results[i].exit_code, 0) << results[i].describe();
    std::printf("%-10s %s", arrangements[i], results[i].output.c_str());
  }
}

INSTANTIATE_TEST_SUITE_P(waits, idle,
                         ::testing::Values("idle_nothing", "idle_main_joins", "idle_mutex",
                                           "idle_condition_variable", "idle_sleep", "idle_timed_wait",
                                           "idle_future", "idle_channel", "idle_semaphore",
                                           "idle_foreign_waits", "idle_suspended", "idle_latch_and_barrier",
                                           "idle_stop_token", "idle_io", "idle_io_uring"),
                         [](const auto& info) { return std::string(info.param); });

} // namespace
