// SPDX-License-Identifier: MIT
// A process that is disturbed from outside while everything in it waits and works: signals of somebody else's
// on every kernel thread, stops of the whole process and of single kernel threads.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <random>
#include <string>
#include <sys/syscall.h>
#include <thread>
#include <utility>
#include <vector>

#include "tests/system/load.hpp"
#include "tests/system/scenario.hpp"

namespace {

using namespace std::chrono_literals;
using weft::tests::load_length;
using weft::tests::require;
using weft::tests::run_load;

std::vector<pid_t> kernel_threads_of(pid_t process) {
  std::vector<pid_t> ids;
  std::error_code gone;
  for (const auto& entry :
       std::filesystem::directory_iterator("/proc/" + std::to_string(process) + "/task", gone))
    ids.push_back(static_cast<pid_t>(std::stol(entry.path().filename())));
  return ids;
}

// What a scenario says when this machine does not let it try.
int skip(const char* why) {
  std::printf("skipped: %s (%s)\n", why, std::strerror(errno));
  return 0;
}

// `environment`: of the process that is disturbed.
void expect_it_goes_on(const char* scenario,
                       const std::vector<std::pair<std::string, std::string>>& environment = {}) {
  const auto result =
      weft::tests::run(scenario, {.environment = environment,
                                  .limit = std::chrono::ceil<std::chrono::seconds>(load_length()) + 100s,
                                  .argument = ""});
  EXPECT_EQ(result.exit_code, 0) << result.describe();
  std::printf("%s", result.output.c_str());
  if (result.contains("skipped: "))
    GTEST_SKIP() << result.output;
}

// --- signals ---

std::atomic<long> signals_seen{0};

// A handler as a program that knows nothing of Weft has it: it interrupts system calls and runs where it
// comes.
void handle_foreign_signal() {
  struct sigaction action{};
  action.sa_handler = [](int) { signals_seen.fetch_add(1, std::memory_order_relaxed); };
  require(::sigaction(SIGUSR1, &action, nullptr) == 0, "sigaction");
}

int storm(bool preempted) {
  handle_foreign_signal();
  std::atomic<bool> over{false};
  std::thread pest([&over] {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
    const pid_t me = static_cast<pid_t>(::syscall(SYS_gettid));
    while (!over.load()) {
      for (const pid_t id : kernel_threads_of(::getpid())) {
        if (id != me)
          ::syscall(SYS_tgkill, ::getpid(), id, SIGUSR1); // it may have ended
      }
      std::this_thread::sleep_for(100us);
    }
  });
  const long steps = run_load({.length = load_length(), .preempted = preempted});
  over.store(true);
  pest.join();
  std::printf("%ld steps under %ld signals\n", steps, signals_seen.load());
  require(signals_seen.load() > 500, "the storm was one");
  return 0;
}

WEFT_SCENARIO(storm_without_restart) {
  return storm(false);
}
WEFT_SCENARIO(storm_on_preempted_threads) {
  return storm(true);
}
// Where who waits for input sleeps in epoll_wait(2), and in io_uring_enter(2).
TEST(interference, storm_of_foreign_signals_without_restart) {
  for (const char* source : {"epoll", "uring"})
    expect_it_goes_on("storm_without_restart", {{"WEFT_IO", source}});
}
TEST(interference, storm_of_foreign_signals_on_preempted_threads) {
  for (const char* source : {"epoll", "uring"})
    expect_it_goes_on("storm_on_preempted_threads", {{"WEFT_IO", source}});
}

// --- stops ---

// The load in a child of its own; the scenario's process has no runtime and does `disturb(child)` until the
// child has ended, which it must with code 0. False: `disturb` was not allowed to.
template <class Disturb>
bool load_beside(bool preempted, Disturb disturb) {
  const pid_t child = ::fork();
  require(child >= 0, "fork");
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const long steps = run_load({.length = load_length(), .preempted = preempted});
    std::printf("%ld steps\n", steps);
    std::fflush(stdout);
    ::_exit(0);
  }
  int status = 0;
  pid_t ended = 0;
  while ((ended = ::waitpid(child, &status, WNOHANG)) == 0) {
    if (!disturb(child)) {
      ::kill(child, SIGKILL);
      ::waitpid(child, &status, 0);
      return false;
    }
  }
  require(ended == child, "waitpid");
  require(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child ended as it should");
  return true;
}

WEFT_SCENARIO(process_is_stopped) {
  std::mt19937 random(1);
  long stops = 0;
  load_beside(true, [&](pid_t child) {
    ::usleep(random() % 10'000);
    ::kill(child, SIGSTOP);
    ::usleep(random() % 30'000);
    ::kill(child, SIGCONT);
    ++stops;
    return true;
  });
  std::printf("stopped %ld times\n", stops);
  require(stops > 3, "it was stopped");
  return 0;
}
TEST(interference, the_process_stops_and_goes_on) {
  expect_it_goes_on("process_is_stopped");
}

// Holds one kernel thread for a while, all others go on. 1: held, 0: it has ended, -1: not allowed.
int hold(pid_t id, useconds_t length) {
  if (::ptrace(PTRACE_SEIZE, id, nullptr, nullptr) != 0)
    return errno == ESRCH ? 0 : -1;
  // Fails if it has ended meanwhile; that must be waited for too, or its process never ends.
  ::ptrace(PTRACE_INTERRUPT, id, nullptr, nullptr);
  for (;;) {
    int status = 0;
    if (::waitpid(id, &status, __WALL) != id || !WIFSTOPPED(status))
      return 0;
    const bool by_us = status >> 16 == PTRACE_EVENT_STOP;
    if (by_us) {
      ::usleep(length);
      if (::ptrace(PTRACE_DETACH, id, nullptr, nullptr) == 0)
        return 1;
      continue; // it was killed as it stood; its end must be waited for
    }
    // a signal that comes now is its own
    ::ptrace(PTRACE_CONT, id, nullptr, reinterpret_cast<void*>(static_cast<std::intptr_t>(WSTOPSIG(status))));
  }
}

int freeze(bool preempted) {
  std::mt19937 random(2);
  long held = 0;
  const bool allowed = load_beside(preempted, [&](pid_t child) {
    std::vector<pid_t> all = kernel_threads_of(child);
    // The first one's end is the process's, which only waitpid() in load_beside() shall see.
    if (all.size() < 2)
      return ::usleep(1000), true;
    const int result =
        hold(all[1 + random() % (all.size() - 1)], random() % 8 == 0 ? 50'000 : random() % 3000);
    held += result == 1 ? 1 : 0;
    return result >= 0;
  });
  if (!allowed)
    return skip("kernel threads of a child may not be traced");
  std::printf("held a kernel thread %ld times\n", held);
  require(held > 3, "kernel threads were held");
  return 0;
}
WEFT_SCENARIO(kernel_threads_are_frozen) {
  return freeze(false);
}
WEFT_SCENARIO(kernel_threads_are_frozen_with_preemption) {
  return freeze(true);
}
TEST(interference, single_kernel_threads_stop_and_go_on) {
  expect_it_goes_on("kernel_threads_are_frozen");
}
TEST(interference, single_kernel_threads_stop_and_go_on_with_preemption) {
  expect_it_goes_on("kernel_threads_are_frozen_with_preemption");
}

} // namespace
