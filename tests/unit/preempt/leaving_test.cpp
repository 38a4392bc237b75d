// SPDX-License-Identifier: MIT
// Cooperative threads, main() among them, that wait in the kernel leave their worker, go on on their kernel
// thread without one, and come back to a worker when they next call Weft.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <exception>
#include <mutex>
#include <ostream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/preempt/leaving_fixture.hpp"
#include "weft/fork_join.hpp"
#include "weft/mutex.hpp"
#include "weft/parallel.hpp"
#include "weft/task_group.hpp"
#include "weft/thread.hpp"
#include "weft/thread_specific.hpp"

namespace weft::test {
namespace {

using namespace std::chrono_literals;

struct shape {
  sched::arrangement pools;
  unsigned workers;
};
std::string name_of(const shape& s) {
  const char* pools = s.pools == sched::arrangement::stealing   ? "stealing_"
                      : s.pools == sched::arrangement::one_pool ? "one_pool_"
                                                                : "private_";
  return pools + std::to_string(s.workers);
}
// Without it GoogleTest prints the bytes, and memcheck complains of those that are padding.
void PrintTo(const shape& s, std::ostream* out) {
  *out << name_of(s);
}

class leaving : public ::testing::TestWithParam<shape> {
 protected:
  void SetUp() override {
    if (!leaves_here())
      GTEST_SKIP() << "not on this machine";
    runtime_.start(GetParam().pools, GetParam().workers);
  }
  void TearDown() override { runtime_.stop(); }
  static unsigned workers() { return GetParam().workers; }

  leaving_runtime runtime_;
};
INSTANTIATE_TEST_SUITE_P(
    each, leaving,
    ::testing::Values(shape{sched::arrangement::stealing, 1}, shape{sched::arrangement::stealing, 2},
                      shape{sched::arrangement::stealing, 4}, shape{sched::arrangement::pool_per_worker, 1},
                      shape{sched::arrangement::pool_per_worker, 2}, shape{sched::arrangement::one_pool, 2}),
    [](const auto& info) { return name_of(info.param); });

TEST_P(leaving, main_lets_the_thread_run_that_it_waits_for) {
  const a_pipe p;
  thread writer([&] { p.write_one('a'); });
  EXPECT_EQ(p.read_one(), 'a');
  writer.join();
}

TEST_P(leaving, readers_do_not_stop_who_writes) {
  constexpr unsigned readers = 6;
  std::array<a_pipe, readers> pipes;
  std::atomic<unsigned> got{0};
  std::vector<thread> threads;
  for (unsigned i = 0; i < readers; ++i) {
    threads.emplace_back([&, i] {
      EXPECT_EQ(pipes[i].read_one(), static_cast<char>('a' + i));
      ++got;
    });
  }
  threads.emplace_back([&] {
    for (unsigned i = 0; i < readers; ++i)
      pipes[i].write_one(static_cast<char>('a' + i));
  });
  for (thread& t : threads)
    t.join();
  EXPECT_EQ(got, readers);
}

// Each step of the one waits for a step of the other, and both call Weft in between.
TEST_P(leaving, goes_back_and_forth) {
  constexpr int rounds = 30;
  const a_pipe there, back;
  thread echo([&] {
    for (int i = 0; i < rounds; ++i) {
      const char c = there.read_one();
      this_thread::yield();
      back.write_one(c);
    }
  });
  for (int i = 0; i < rounds; ++i) {
    there.write_one(static_cast<char>(i));
    EXPECT_EQ(back.read_one(), static_cast<char>(i));
    this_thread::yield();
  }
  echo.join();
}

TEST_P(leaving, a_lock_of_the_programs_own) {
  pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
  long inside = 0;
  std::vector<thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 3; ++i) {
        ::pthread_mutex_lock(&m);
        const long seen = inside;
        this_thread::yield(); // the others try meanwhile
        EXPECT_EQ(inside, seen);
        inside = seen + 1;
        ::pthread_mutex_unlock(&m);
      }
    });
  }
  for (thread& t : threads)
    t.join();
  EXPECT_EQ(inside, 12);
}

TEST_P(leaving, a_mutex_is_held_across_the_call) {
  mutex m;
  const a_pipe p;
  bool was_read = false;
  thread reader([&] {
    const std::scoped_lock held(m);
    p.read_one();
    was_read = true;
  });
  thread other([&] {
    const std::scoped_lock held(m);
    static_cast<void>(was_read);
  });
  thread writer([&] { p.write_one(); });
  reader.join();
  other.join();
  writer.join();
  EXPECT_TRUE(was_read);
}

TEST_P(leaving, a_kernel_thread_is_joined) {
  std::atomic<bool> may_end{false};
  std::thread other([&] {
    while (!may_end)
      ::usleep(100);
  });
  thread release([&] { may_end = true; });
  thread joiner([&] { other.join(); });
  joiner.join();
  release.join();
}

TEST_P(leaving, caught_exceptions_stay_with_the_thread) {
  const a_pipe p;
  thread writer([&] { p.write_one(); });
  try {
    throw std::runtime_error("first");
  } catch (const std::runtime_error& caught) {
    p.read_one();
    this_thread::yield(); // comes back, in the midst of a handler
    EXPECT_STREQ(caught.what(), "first");
    try {
      throw;
    } catch (const std::exception& again) {
      EXPECT_STREQ(again.what(), "first");
    }
  }
  EXPECT_EQ(std::current_exception(), nullptr);
  writer.join();
}

TEST_P(leaving, what_is_thrown_after_the_call_comes_to_the_joiner) {
  const a_pipe p;
  task_group group;
  group.run([&] {
    p.read_one();
    throw std::runtime_error("away");
  });
  group.run([&] { p.write_one(); });
  EXPECT_THROW(group.wait(), std::runtime_error);
}

TEST_P(leaving, forked_calls_and_their_joiners) {
  const a_pipe p;
  int made = 0;
  thread caller([&] {
    auto reader = weft::fork([&] { return p.read_one() == 'x' ? 1 : 0; });
    auto writer = weft::fork([&] {
      p.write_one();
      return 2;
    });
    const int last = writer.join();
    made = last + reader.join();
  });
  caller.join();
  EXPECT_EQ(made, 3);
}

TEST_P(leaving, pieces_of_a_loop) {
  constexpr int pieces = 8;
  std::array<a_pipe, pieces> pipes;
  std::atomic<int> sum{0};
  thread writer([&] {
    for (const a_pipe& p : pipes)
      p.write_one();
  });
  thread loop([&] {
    weft::parallel_for(0, pieces, [&](int i) {
      pipes[static_cast<std::size_t>(i)].read_one();
      sum += i;
    });
  });
  loop.join();
  writer.join();
  EXPECT_EQ(sum, pieces * (pieces - 1) / 2);
}

TEST_P(leaving, local_storage_goes_with_it) {
  thread_specific<int> mine;
  const a_pipe p;
  thread writer([&] { p.write_one(); });
  thread reader([&] {
    mine.reset(new int(7));
    p.read_one();
    EXPECT_EQ(*mine, 7);
    this_thread::yield();
    EXPECT_EQ(*mine, 7);
  });
  reader.join();
  writer.join();
}

TEST_P(leaving, a_cancellation_waits_for_the_next_call_of_weft) {
  struct note {
    bool& written;
    ~note() { written = true; }
  };
  const a_pipe p;
  bool unwound = false, went_on = false;
  std::atomic<bool> begun{false};
  thread reader([&] {
    const note n{unwound};
    begun = true;
    p.read_one();
    this_thread::yield();
    went_on = true;
  });
  thread canceller([&] {
    while (!begun)
      this_thread::yield();
    reader.cancel();
    p.write_one();
  });
  canceller.join();
  reader.join();
  EXPECT_TRUE(unwound);
  EXPECT_FALSE(went_on);
}

TEST_P(leaving, forks_while_it_is_away_and_after) {
  const a_pipe p;
  thread writer([&] { p.write_one(); });
  thread forker([&] {
    p.read_one();
    const pid_t child = ::fork();
    if (child == 0) {
      int got = 0;
      thread([&] { got = 1; }).join();
      ::_exit(got == 1 ? 0 : 1);
    }
    int status = 1;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  });
  forker.join();
  writer.join();
}

TEST_P(leaving, main_forks) {
  const a_pipe p;
  thread writer([&] { p.write_one(); });
  p.read_one();
  const pid_t child = ::fork();
  if (child == 0) {
    const a_pipe mine;
    thread w([&] { mine.write_one(); });
    this_thread::yield(); // threads leave in the child as well, from the first decision of its worker on
    mine.read_one();
    w.join();
    ::_exit(0);
  }
  int status = 1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  writer.join();
}

TEST_P(leaving, many_at_once) {
  constexpr unsigned count = 60;
  std::vector<a_pipe> pipes(count);
  std::atomic<unsigned> read{0};
  std::vector<thread> threads;
  for (unsigned i = 0; i < count; ++i) {
    threads.emplace_back([&, i] {
      pipes[i].read_one();
      ++read;
    });
  }
  thread writer([&] {
    for (const a_pipe& p : pipes)
      p.write_one();
  });
  writer.join();
  for (thread& t : threads)
    t.join();
  EXPECT_EQ(read, count);
}

} // namespace
} // namespace weft::test
