// SPDX-License-Identifier: MIT
// What C and C++ keep per kernel thread, under ticks at 200 us: threads with thread-local storage of their
// own while they are preempted do it all. Plain signal-yield breaks most of it within seconds, which is why
// none of these runs with it.
#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <cfenv>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/unit/preempt/fixture.hpp"
#include "weft/arch/user_mode.hpp"
#include "weft/os/clock.hpp"
#include "weft/preempt/ticks.hpp"
#include "weft/runtime.hpp"
#include "weft/thread.hpp"

namespace weft::test {
namespace {

constexpr place places[] = {
    {preemption::own_tls, sched::arrangement::pool_per_worker, 1},
    {preemption::own_tls, sched::arrangement::stealing, 2},
    {preemption::own_tls, sched::arrangement::one_pool, 3},
    {preemption::own_kernel_thread, sched::arrangement::pool_per_worker, 1},
    {preemption::own_kernel_thread, sched::arrangement::stealing, 2},
    {preemption::own_kernel_thread, sched::arrangement::one_pool, 3},
    {preemption::bound_tls, sched::arrangement::stealing, 2},
};

class hazards : public ticked_at_a_place {
 protected:
  static constexpr int threads = 8;
  static constexpr std::int64_t length = 300'000'000; // of a stress, in ns

  // body(thread, round) until the time is over, in each of the threads; and until a tick has preempted one.
  template <class F>
  void stress(F body) {
    thread_attributes a;
    a.preemption = GetParam().kind;
    const std::int64_t end = os::now_ns() + length;
    std::vector<thread> all;
    for (int t = 0; t < threads; ++t) {
      all.emplace_back(a, [this, &body, end, t] {
        for (int round = 0; os::now_ns() < end || runtime_.preemptions() == 0; ++round)
          body(t, round);
      });
    }
    for (thread& t : all)
      t.join();
  }
};

INSTANTIATE_TEST_SUITE_P(each, hazards, ::testing::ValuesIn(places), ::testing::PrintToStringParamName());

TEST_P(hazards, malloc_keeps_its_arenas) {
  stress([](int t, int round) {
    std::vector<std::string> kept;
    for (int i = 0; i < 50; ++i)
      kept.emplace_back(static_cast<std::size_t>(1 + (round * 37 + i * 101) % 3000),
                        static_cast<char>('a' + t));
    for (const std::string& s : kept)
      ASSERT_EQ(s.find_first_not_of(static_cast<char>('a' + t)), std::string::npos);
  });
}

// On the alternative stack of the kernel thread, which the next thread's handler has too.
TEST_P(hazards, handlers_on_a_signal_stack_keep_their_frames) {
  static std::atomic<int> handled;
  static std::atomic<int> overwritten;
  handled = overwritten = 0;
  struct sigaction how = {};
  struct sigaction before = {};
  how.sa_flags = SA_ONSTACK | SA_NODEFER;
  how.sa_handler = [](int) {
    volatile int frame[100];
    const int mine = ++handled;
    for (volatile int& word : frame)
      word = mine;
    for (const std::int64_t end = os::now_ns() + 500'000; os::now_ns() < end;) // for some ticks
      asm volatile("");
    for (const volatile int& word : frame)
      overwritten += word != mine;
  };
  ASSERT_EQ(::sigaction(SIGALRM, &how, &before), 0);
  stress([](int, int) { ::raise(SIGALRM); });
  EXPECT_GT(handled, threads);
  EXPECT_EQ(overwritten, 0);
  ::sigaction(SIGALRM, &before, nullptr);
}

TEST_P(hazards, a_recursive_mutex_excludes) {
  pthread_mutex_t m;
  pthread_mutexattr_t a;
  pthread_mutexattr_init(&a);
  pthread_mutexattr_settype(&a, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&m, &a);
  std::atomic<int> inside{0};
  stress([&](int, int) {
    ASSERT_EQ(pthread_mutex_lock(&m), 0);
    ASSERT_EQ(pthread_mutex_lock(&m), 0);
    ASSERT_EQ(inside.fetch_add(1), 0);
    for (int i = 0; i < 2000; ++i)
      asm volatile("");
    ASSERT_EQ(inside.fetch_sub(1), 1);
    ASSERT_EQ(pthread_mutex_unlock(&m), 0);
    ASSERT_EQ(pthread_mutex_unlock(&m), 0);
  });
  pthread_mutex_destroy(&m);
  pthread_mutexattr_destroy(&a);
}

TEST_P(hazards, exceptions_find_their_handlers) {
  stress([](int t, int round) {
    const int thrown = t * 1000 + round % 1000;
    try {
      try {
        throw std::runtime_error(std::to_string(thrown));
      } catch (const std::exception& e) {
        ASSERT_EQ(std::uncaught_exceptions(), 0);
        ASSERT_EQ(std::stoi(e.what()), thrown);
        throw;
      }
    } catch (const std::runtime_error& e) {
      ASSERT_EQ(std::stoi(e.what()), thrown);
      const std::exception_ptr now = std::current_exception();
      try {
        std::rethrow_exception(now);
      } catch (const std::runtime_error& again) {
        ASSERT_EQ(std::stoi(again.what()), thrown);
      }
    }
  });
}

TEST_P(hazards, errno_is_the_threads_own) {
  stress([](int t, int) {
    errno = 1000 + t;
    for (int i = 0; i < 20'000; ++i)
      asm volatile("");
    ASSERT_EQ(errno, 1000 + t);
  });
}

TEST_P(hazards, thread_locals_hold_between_two_calls_of_weft) {
  static thread_local int mine = 0;
  stress([](int t, int) {
    int* const here = &mine;
    for (int i = 0; i < 1000; ++i) {
      *here = t * 10'000 + i;
      for (int k = 0; k < 50; ++k)
        asm volatile("");
      ASSERT_EQ(mine, t * 10'000 + i);
    }
  });
}

TEST_P(hazards, stdio_locks_its_streams) {
  std::FILE* const file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  std::atomic<long> lines{0};
  stress([&](int t, int round) {
    flockfile(file);
    for (int i = 0; i < 10; ++i)
      std::fprintf(file, "%d:%d\n", t, round);
    funlockfile(file);
    lines += 10;
  });
  std::rewind(file);
  long read = 0;
  char line[64];
  while (std::fgets(line, sizeof line, file) != nullptr) {
    int t = -1, round = -1;
    ASSERT_EQ(std::sscanf(line, "%d:%d", &t, &round), 2) << line;
    ++read;
  }
  EXPECT_EQ(read, lines);
  std::fclose(file);
}

TEST_P(hazards, floating_point_control_and_values) {
  stress([](int t, int) {
    constexpr int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    std::fesetround(modes[t % 4]);
    double sum = 0;
    for (int i = 1; i < 3000; ++i)
      sum += std::sqrt(static_cast<double>(i + t));
    double again = 0;
    for (int i = 1; i < 3000; ++i)
      again += std::sqrt(static_cast<double>(i + t));
    ASSERT_EQ(sum, again);
    ASSERT_EQ(std::fegetround(), modes[t % 4]);
  });
}

} // namespace
} // namespace weft::test
