// SPDX-License-Identifier: MIT
// Processes that preemptible threads start under ticks at 200 us, by vfork(), posix_spawn(), system() and
// popen(). A child of vfork() has the parent's memory: nothing may be preempted in it. A program that is
// started has neither our handler nor our signal blocked.
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "tests/unit/preempt/fixture.hpp"
#include "weft/os/clock.hpp"
#include "weft/runtime.hpp"
#include "weft/thread.hpp"

extern char** environ;

namespace weft::test {
namespace {

const std::vector<place> places = two_places_of_each(
    {preemption::signal_yield, preemption::own_tls, preemption::own_kernel_thread, preemption::bound_tls});

std::int32_t kernel_thread_now() {
  return static_cast<std::int32_t>(::syscall(SYS_gettid));
}

// The child says who it is, and computes for some intervals.
[[gnu::noinline]] pid_t vfork_and_compute(std::atomic<std::int32_t>& child_id, bool becomes_another) {
  constexpr std::int64_t some_intervals = 1'000'000;
  const pid_t child = ::vfork();
  if (child != 0)
    return child;
  child_id = kernel_thread_now();
  const std::int64_t end = os::now_ns() + some_intervals;
  while (os::now_ns() < end)
    asm volatile("");
  if (child_id != kernel_thread_now())
    ::_exit(8);
  if (becomes_another)
    ::execl("/bin/sh", "sh", "-c", "exit 7", nullptr);
  ::_exit(7);
}

int exit_code_of(pid_t child) {
  int status = 0;
  pid_t got;
  do {
    got = ::waitpid(child, &status, 0);
  } while (got < 0 && errno == EINTR);
  return got == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// Which signals a process blocks, ignores and handles: the lines of /proc/self/status.
using dispositions = std::map<std::string, std::uint64_t>;
constexpr const char* ask_for_dispositions = "exec grep -E '^Sig(Blk|Ign|Cgt):' /proc/self/status";

dispositions told_by(std::FILE* answers) {
  dispositions told;
  char name[16];
  unsigned long long signals = 0;
  while (std::fscanf(answers, " %15[^:]: %llx", name, &signals) == 2)
    told[name] = signals;
  return told;
}
bool has(std::uint64_t signals, int number) {
  return (signals >> (number - 1) & 1) != 0;
}

class processes : public ticked_at_a_place {
 protected:
  static thread_attributes attributes() {
    thread_attributes a;
    a.preemption = GetParam().kind;
    return a;
  }
  // f() in each of some threads, beside others that compute and call each() again and again.
  template <class F, class G>
  void beside_others(int threads, F f, G each) {
    std::atomic<int> left{threads};
    std::vector<thread> all;
    for (int i = 0; i < 3; ++i) {
      all.emplace_back(attributes(), [&] {
        while (left != 0 || runtime_.preemptions() == 0) {
          for (int k = 0; k < 2000; ++k)
            asm volatile("");
          each();
        }
      });
    }
    for (int i = 0; i < threads; ++i) {
      all.emplace_back(attributes(), [&] {
        f();
        --left;
      });
    }
    for (thread& t : all)
      t.join();
  }
  template <class F>
  void beside_others(F f) {
    beside_others(2, f, [] {});
  }
  static bool may_use_libc() { return GetParam().kind != preemption::signal_yield; }
};

INSTANTIATE_TEST_SUITE_P(each, processes, ::testing::ValuesIn(places), ::testing::PrintToStringParamName());

// It computes for some intervals before it ends or becomes another program; nobody else may be seen there.
TEST_P(processes, nobody_runs_in_a_child_of_vfork) {
  std::atomic<std::int32_t> child_id{0};
  std::atomic<int> seen_in_child{0};
  const auto work = [&] {
    for (const bool becomes_another : {false, true, false, true, false, true, false, true}) {
      const pid_t child = vfork_and_compute(child_id, becomes_another);
      ASSERT_GT(child, 0);
      EXPECT_EQ(child_id, child);
      EXPECT_NE(kernel_thread_now(), child);
      child_id = 0;
      EXPECT_EQ(exit_code_of(child), 7);
    }
  };
  beside_others(1, work, [&] {
    if (kernel_thread_now() == child_id)
      ++seen_in_child;
  });
  EXPECT_EQ(seen_in_child, 0);
}

TEST_P(processes, that_are_spawned_end_as_they_should) {
  beside_others([] {
    for (int round = 0; round < 5; ++round) {
      char shell[] = "/bin/sh", is_a_command[] = "-c", command[] = "exit 7";
      char* const arguments[] = {shell, is_a_command, command, nullptr};
      pid_t child = -1;
      ASSERT_EQ(::posix_spawn(&child, shell, nullptr, nullptr, arguments, environ), 0);
      EXPECT_EQ(exit_code_of(child), 7);
    }
  });
}

bool sigchld_is_blocked() {
  sigset_t blocked;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  return ::sigismember(&blocked, SIGCHLD) == 1;
}

// Which blocks SIGCHLD on its kernel thread meanwhile. Threads of the other kinds may unblock it on another.
TEST_P(processes, of_system_end_as_they_should) {
  if (!may_use_libc())
    GTEST_SKIP() << "it locks";
  beside_others([] {
    for (int round = 0; round < 5; ++round) {
      const bool was_blocked = sigchld_is_blocked();
      const int status = std::system("exit 7");
      EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7) << status;
      if (GetParam().kind == preemption::own_kernel_thread) {
        EXPECT_EQ(sigchld_is_blocked(), was_blocked);
      }
    }
  });
}

// What a child of popen() finds, here and, before anything was preempted, in `usual`.
class children_of_popen : public processes {
 protected:
  void SetUp() override {
    usual_ = ask(); // a cooperative thread's, or none of Weft's at all
    processes::SetUp();
  }
  static dispositions ask() {
    std::FILE* const answers = ::popen(ask_for_dispositions, "re");
    EXPECT_NE(answers, nullptr);
    dispositions told = told_by(answers);
    EXPECT_EQ(::pclose(answers), 0);
    EXPECT_EQ(told.size(), 3U);
    return told;
  }
  dispositions usual_;
};

INSTANTIATE_TEST_SUITE_P(each, children_of_popen, ::testing::ValuesIn(places),
                         ::testing::PrintToStringParamName());

TEST_P(children_of_popen, have_signals_as_usual) {
  if (!may_use_libc())
    GTEST_SKIP() << "it allocates and locks";
  beside_others([this] {
    for (int round = 0; round < 5; ++round) {
      const dispositions told = ask();
      EXPECT_EQ(told, usual_);
      EXPECT_FALSE(has(told.at("SigBlk"), SIGURG));
    }
  });
}

} // namespace
} // namespace weft::test
