// SPDX-License-Identifier: MIT
// What the kernel and the dynamic linker keep per kernel thread or per process, under ticks at 200 us: signal
// masks, alternate stacks, lazy binding, fork(), signals of the program's own; and what plain signal-yield
// does to code that knows its kernel thread.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "tests/unit/preempt/fixture.hpp"
#include "weft/os/clock.hpp"
#include "weft/os/kernel_thread.hpp"
#include "weft/preempt/tick_sources.hpp"
#include "weft/preempt/ticks.hpp"
#include "weft/runtime.hpp"
#include "weft/sleep.hpp"
#include "weft/thread.hpp"

namespace weft::test {
namespace {

class kernel_state : public ::testing::TestWithParam<preemption> {
 protected:
  static constexpr int threads = 6;
  static constexpr std::int64_t length = 200'000'000; // of a stress, in ns

  void SetUp() override {
    if (!can_preempt(GetParam()))
      GTEST_SKIP() << "not on this machine";
    start_ticking(sched::arrangement::stealing, 2, std::chrono::microseconds(200));
    before_ = preempt::counts();
    started_ = true;
  }
  void TearDown() override {
    if (started_) {
      EXPECT_TRUE(runtime::stop());
    }
  }
  static thread_attributes attributes() {
    thread_attributes a;
    a.preemption = GetParam();
    return a;
  }
  // body(thread, round) until the time is over and a tick has preempted somebody.
  template <class F>
  void stress(F body) {
    const std::int64_t end = os::now_ns() + length;
    std::vector<thread> all;
    for (int t = 0; t < threads; ++t) {
      all.emplace_back(attributes(), [this, &body, end, t] {
        for (int round = 0; os::now_ns() < end || preempt::counts().preemptions == before_.preemptions;
             ++round)
          body(t, round);
      });
    }
    for (thread& t : all)
      t.join();
  }

 private:
  preempt::tick_counts before_;
  bool started_ = false;
};

INSTANTIATE_TEST_SUITE_P(each, kernel_state,
                         ::testing::Values(preemption::own_tls, preemption::own_kernel_thread,
                                           preemption::bound_tls),
                         [](const auto& info) { return name_of(info.param); });

void spin(int rounds) {
  for (int i = 0; i < rounds; ++i)
    asm volatile("");
}

// A thread that goes on on another kernel thread must not bring the old one's along.
TEST_P(kernel_state, masks_and_alternate_stacks_stay_with_the_kernel_thread) {
  std::mutex lock;
  std::map<int, void*> stack_of;
  std::atomic<int> wrong_stacks{0}, wrong_masks{0};
  stress([&](int, int) {
    spin(20'000);
    const no_preemption here;
    stack_t alternate{};
    ::sigaltstack(nullptr, &alternate);
    sigset_t blocked;
    ::pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
    const int kernel_thread = os::this_kernel_thread_id();
    wrong_masks += sigismember(&blocked, SIGURG);
    const std::scoped_lock held(lock); // it may wait, and go on elsewhere
    const auto [place, fresh] = stack_of.emplace(kernel_thread, alternate.ss_sp);
    wrong_stacks += place->second != alternate.ss_sp ? 1 : 0;
  });
  EXPECT_EQ(wrong_stacks, 0);
  EXPECT_EQ(wrong_masks, 0);
}

// A thread that waits in ppoll(2), which opens the signal that is blocked otherwise, with two ticks. If they
// queue (the signal is a real-time one), then the handler of the second stands on that of the first, which
// has not begun, and takes the thread to another kernel thread.
TEST_P(kernel_state, ticks_that_wait_for_a_call_with_its_own_mask) {
  if (GetParam() == preemption::own_kernel_thread)
    GTEST_SKIP() << "stays on its kernel thread";
  const int number = sched::signal_of_ticks.load_relaxed();
  sigset_t ticks;
  sigemptyset(&ticks);
  sigaddset(&ticks, number);
  std::mutex lock;
  std::map<int, void*> stack_of;
  std::atomic<int> moved{0}, wrong_stacks{0}, wrong_masks{0};
  const auto wait = [&](int, int) {
    this_thread::yield(); // without a worker it would stay on its kernel thread
    sigset_t open;
    ::pthread_sigmask(SIG_BLOCK, &ticks, &open); // nobody takes it away from here on
    const int kernel_thread = os::this_kernel_thread_id();
    preempt::send_tick(kernel_thread, number);
    preempt::send_tick(kernel_thread, number);
    const timespec a_moment{0, 100'000};
    EXPECT_EQ(::ppoll(nullptr, 0, &a_moment, &open), 0);
    sigset_t blocked;
    stack_t alternate{};
    ::pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
    ::sigaltstack(nullptr, &alternate);
    const int now_on = os::this_kernel_thread_id();
    ::pthread_sigmask(SIG_UNBLOCK, &ticks, nullptr);
    moved += now_on != kernel_thread ? 1 : 0;
    wrong_masks += sigismember(&blocked, number) != 0 ? 0 : 1;
    const no_preemption still;
    const std::scoped_lock held(lock);
    const auto [place, fresh] = stack_of.emplace(now_on, alternate.ss_sp);
    wrong_stacks += place->second != alternate.ss_sp ? 1 : 0;
  };
  constexpr int enough = 20;
  for (int tries = 0; tries < 25 && moved < enough; ++tries)
    stress(wait);
  EXPECT_GT(moved, 0);
  EXPECT_EQ(wrong_stacks, 0);
  EXPECT_EQ(wrong_masks, 0);
}

TEST_P(kernel_state, dlopen_and_lazy_binding) {
  stress([](int, int round) {
    void* const library = ::dlopen("libm.so.6", RTLD_LAZY);
    ASSERT_NE(library, nullptr);
    const auto cosine = reinterpret_cast<double (*)(double)>(::dlsym(library, "cos"));
    ASSERT_NE(cosine, nullptr);
    const double x = round % 100;
    ASSERT_EQ(cosine(x), std::cos(x));
    ::dlclose(library);
  });
}

// That of libm's above binds but what it calls itself, once; here each round calls fifty functions for the
// first time, in a library that was just loaded. Under LD_BIND_NOW these are bound when it is loaded, all of
// them, which only libraries survive that miss none.
TEST_P(kernel_state, first_calls_of_functions_that_are_bound_lazily) {
  const char* const at_once = std::getenv("LD_BIND_NOW");
  const std::string name = at_once != nullptr ? WEFT_COMPLETE_LIBRARIES : WEFT_LAZY_LIBRARIES;
  const auto path_of = [&name](int t) { return name + std::to_string(t) + ".so"; };
  if (at_once == nullptr) {
    ASSERT_EQ(::dlopen(path_of(0).c_str(), RTLD_NOW), nullptr) << "nothing is left to be bound lazily";
  }
  stress([&](int t, int round) {
    void* const library = ::dlopen(path_of(t).c_str(), RTLD_LAZY);
    ASSERT_NE(library, nullptr) << ::dlerror();
    const auto first = reinterpret_cast<int (*)(int)>(::dlsym(library, "weft_lazy_a0"));
    ASSERT_NE(first, nullptr);
    ASSERT_EQ(first(round), round + 50);
    ASSERT_EQ(::dlclose(library), 0);
    ASSERT_EQ(::dlopen(path_of(t).c_str(), RTLD_LAZY | RTLD_NOLOAD), nullptr) << "it is still there";
  });
}

std::atomic<long> alarms;

TEST_P(kernel_state, signals_of_the_programs_own) {
  alarms = 0;
  struct sigaction counts = {}, before = {};
  counts.sa_handler = [](int) { ++alarms; };
  counts.sa_flags = SA_RESTART;
  ASSERT_EQ(::sigaction(SIGALRM, &counts, &before), 0);
  const itimerval often{{0, 300}, {0, 300}}, never{};
  ASSERT_EQ(::setitimer(ITIMER_REAL, &often, nullptr), 0);
  std::array<long, threads> sums{};
  stress([&](int t, int round) {
    std::string text = std::to_string(round);
    spin(5000);
    ASSERT_EQ(std::stol(text), round);
    sums[static_cast<std::size_t>(t)] += round;
  });
  ASSERT_EQ(::setitimer(ITIMER_REAL, &never, nullptr), 0);
  EXPECT_GT(alarms, 0);
  ASSERT_EQ(::sigaction(SIGALRM, &before, nullptr), 0);
}

void expect_exit_7(pid_t child) {
  int status = 0;
  pid_t got;
  do {
    got = ::waitpid(child, &status, 0);
  } while (got < 0 && errno == EINTR);
  EXPECT_EQ(got, child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7) << status;
}

// The child goes on with the thread that forked, which can make preemptible threads again.
TEST_P(kernel_state, fork_while_others_are_preempted) {
  std::atomic<bool> go_on{true};
  std::vector<thread> others;
  for (int i = 0; i < 3; ++i) {
    others.emplace_back(attributes(), [&go_on] {
      while (go_on) {
      }
    });
  }
  thread forks(attributes(), [&] {
    for (int i = 0; i < 5; ++i) {
      spin(200'000);
      const pid_t child = ::fork();
      ASSERT_GE(child, 0);
      if (child == 0) {
        ::alarm(20);
        bool done = false;
        thread fresh(attributes(), [&done] {
          spin(1000);
          done = true;
        });
        fresh.join();
        ::_exit(done ? 7 : 8);
      }
      expect_exit_7(child);
    }
  });
  forks.join();
  go_on = false;
  for (thread& t : others)
    t.join();
}

// The worker's loop has its frames on the stack of the kernel thread that it began on, which the child does
// not have: the C library must not give that stack to another one there.
TEST(fork_in_user_mode, leaves_the_stack_of_the_loop_alone_where_the_worker_is_away_from_home) {
  if (!can_preempt(preemption::own_kernel_thread))
    GTEST_SKIP() << "not on this machine";
  start_ticking(sched::arrangement::pool_per_worker, 2, std::chrono::microseconds(200));
  thread_attributes a;
  a.preemption = preemption::own_kernel_thread; // always away from home
  a.pool = &main_pool_of(1);
  thread forks(a, [] {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      ::alarm(20);
      for (int i = 0; i < 20; ++i) { // the first ones while kernel threads start
        thread fresh([] { this_thread::sleep_for(std::chrono::microseconds(100)); });
        this_thread::sleep_for(std::chrono::microseconds(100)); // the loop runs
        fresh.join();
      }
      ::_exit(7);
    }
    expect_exit_7(child);
  });
  forks.join();
  EXPECT_TRUE(runtime::stop());
}

thread_local int of_the_thread = 0;

// Its block lies on the stack of a kernel thread that the child does not have.
TEST(fork_in_user_mode, keeps_the_variables_of_bound_tls) {
  if (!can_preempt(preemption::bound_tls))
    GTEST_SKIP() << "not on this machine";
  start_ticking(sched::arrangement::pool_per_worker, 1, std::chrono::microseconds(200));
  thread_attributes a;
  a.preemption = preemption::bound_tls;
  thread forks(a, [&a] {
    of_the_thread = 42;
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      ::alarm(20);
      for (int i = 0; i < 3; ++i) {
        thread fresh(a, [] { ++of_the_thread; });
        fresh.join();
      }
      ::_exit(of_the_thread == 42 ? 7 : 8);
    }
    expect_exit_7(child);
  });
  forks.join();
  EXPECT_TRUE(runtime::stop());
}

// --- code that knows its kernel thread, and who breaks it ---

class knows_kernel_thread : public ::testing::TestWithParam<preemption> {
 protected:
  // first() is preempted in its middle, second() runs to its end meanwhile, on the same worker.
  template <class First, class Second>
  static void interleave(First first, Second second) {
    start_ticking(sched::arrangement::pool_per_worker, 1, std::chrono::seconds(1)); // the monitor keeps still
    thread_attributes a;
    a.preemption = GetParam();
    bool both_made = false, first_began = false; // to make a thread may take a yield
    thread one(a, [&] {
      while (!both_made)
        this_thread::yield();
      first_began = true;
      first();
    });
    thread two(a, [&] {
      while (!first_began)
        this_thread::yield();
      second();
    });
    both_made = true;
    one.join();
    two.join();
    EXPECT_TRUE(runtime::stop());
  }
  static bool is_plain() { return GetParam() == preemption::signal_yield; }
  void SetUp() override {
    if (!can_preempt(GetParam()))
      GTEST_SKIP() << "not on this machine";
  }
};

INSTANTIATE_TEST_SUITE_P(each, knows_kernel_thread,
                         ::testing::Values(preemption::signal_yield, preemption::own_tls,
                                           preemption::own_kernel_thread, preemption::bound_tls),
                         [](const auto& info) { return name_of(info.param); });

// With signal-yield both threads are the same to the lock: its owner twice, although two are inside.
TEST_P(knows_kernel_thread, a_recursive_mutex) {
  pthread_mutexattr_t a;
  pthread_mutexattr_init(&a);
  pthread_mutexattr_settype(&a, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_t m;
  pthread_mutex_init(&m, &a);
  bool second_got_it = false;
  interleave(
      [&m] {
        pthread_mutex_lock(&m);
        preempt::tick_self();
        pthread_mutex_unlock(&m);
      },
      [&m, &second_got_it] {
        second_got_it = pthread_mutex_trylock(&m) == 0;
        if (second_got_it)
          pthread_mutex_unlock(&m);
      });
  EXPECT_EQ(second_got_it, is_plain());
  pthread_mutex_destroy(&m);
  pthread_mutexattr_destroy(&a);
}

// The same of a stream's lock: what one writes in two steps is not kept together.
TEST_P(knows_kernel_thread, a_stream) {
  std::FILE* const file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  interleave(
      [file] {
        ::flockfile(file);
        std::fputs("begin ", file);
        preempt::tick_self();
        std::fputs("end", file);
        ::funlockfile(file);
      },
      [file] {
        if (::ftrylockfile(file) == 0) {
          std::fputs("other ", file);
          ::funlockfile(file);
        }
      });
  std::rewind(file);
  char line[32] = {};
  EXPECT_NE(std::fgets(line, sizeof line, file), nullptr);
  EXPECT_STREQ(line, is_plain() ? "begin other end" : "begin end");
  std::fclose(file);
}

// The one thing that is kept even with signal-yield, at a moment when nothing changes.
TEST_P(knows_kernel_thread, an_exception_that_is_being_handled) {
  int found = 0, kept = 0;
  interleave(
      [&kept] {
        try {
          throw 1;
        } catch (int) {
          preempt::tick_self();
          try {
            throw;
          } catch (int what) {
            kept = what;
          }
        }
      },
      [&found] {
        if (const std::exception_ptr theirs = std::current_exception()) {
          try {
            std::rethrow_exception(theirs);
          } catch (int what) {
            found = what;
          }
        }
      });
  EXPECT_EQ(found, 0);
  EXPECT_EQ(kept, 1);
}

// Nor is it lost when both are in handlers, and neither leaves its own before the other one has come.
TEST_P(knows_kernel_thread, exceptions_that_two_are_handling_at_once) {
  const auto what_is_handled = [] {
    try {
      std::rethrow_exception(std::current_exception());
    } catch (int what) {
      return what;
    }
  };
  int first = 0, second = 0;
  interleave(
      [&] {
        try {
          throw 1;
        } catch (int) {
          preempt::tick_self(); // the other one catches
          first = what_is_handled();
        }
      },
      [&] {
        try {
          throw 2;
        } catch (int) {
          preempt::tick_self(); // the first one leaves its handler
          second = what_is_handled();
        }
      });
  EXPECT_EQ(first, 1);
  EXPECT_EQ(second, 2);
}

thread_local int scratch = 0;

TEST_P(knows_kernel_thread, a_thread_local) {
  int found = 0;
  interleave(
      [&found] {
        scratch = 1;
        preempt::tick_self();
        found = scratch;
      },
      [] { scratch = 2; });
  EXPECT_EQ(found, is_plain() ? 2 : 1);
}

} // namespace
} // namespace weft::test
