// SPDX-License-Identifier: MIT
// fork(): only the forking thread survives in the child, on a worker of its own with fresh workers beside it;
// the parent goes on. From every kind of caller, with other threads alive in every state and locks held;
// never a hang.
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "tests/system/scenario.hpp"
#include "weft/weft.hpp"

namespace {

bool is_child_of_fork = false;
const int children_are_noted = ::pthread_atfork(nullptr, nullptr, [] { is_child_of_fork = true; });

} // namespace

// LeakSanitizer asks this when a process ends. A child has lost the stacks of the other threads and what
// only they refer to, and the library lets go of the workers that are not there, locks and all, on purpose
// (weft/sched/fork.cpp). The parents are searched.
extern "C" int __lsan_is_turned_off();
extern "C" int __lsan_is_turned_off() {
  return is_child_of_fork ? 1 : 0;
}

namespace {

using namespace std::chrono_literals;
using weft::tests::require;

int rounds() {
  if (std::getenv("WEFT_SOAK") != nullptr)
    return 1000;
  return weft::tests::sanitized() ? 20 : 100;
}

std::chrono::seconds limit() {
  return std::getenv("WEFT_SOAK") != nullptr ? 1000s : 100s;
}

// A life in the child: threads on several workers, waits, timers, a tasklet, forks and joins.
void use_everything() {
  std::atomic<int> sum{0};
  weft::thread t[16];
  weft::mutex m;
  for (auto& one : t) {
    one = weft::thread([&] {
      std::scoped_lock held(m);
      weft::this_thread::yield();
      sum.fetch_add(1);
    });
  }
  for (auto& one : t)
    one.join();
  require(sum.load() == 16, "all threads of the child ran");
  weft::tasklet([&] { sum.fetch_add(1); }).join();
  require(sum.load() == 17, "the tasklet of the child ran");
  std::atomic<long> total{0};
  weft::parallel_for(0, 1000, [&](int i) { total.fetch_add(i); });
  require(total.load() == 499500, "parallel_for in the child");
  weft::binary_semaphore never(0);
  require(!never.try_acquire_for(1ms), "timed out in the child");
  weft::thread sleeper([] { weft::this_thread::sleep_for(1ms); });
  sleeper.join();
  int ends[2];
  require(::pipe(ends) == 0, "a pipe for the child");
  weft::thread writer([&] {
    weft::this_thread::sleep_for(1ms);
    weft::io::write(ends[1], "x", 1, 10s);
  });
  char text = 0;
  require(weft::io::read(ends[0], &text, 1, 10s) == 1, "the child waited for its pipe");
  writer.join();
  weft::io::close(ends[0]);
  weft::io::close(ends[1]);
  require(weft::blocking([] { return 1; }) == 1, "a spare thread of the child");
}

// Forks, uses the runtime in the child, which exits with 0; then waits for it in the parent.
void fork_once() {
  const pid_t child = ::fork();
  require(child >= 0, "fork");
  if (child == 0) {
    ::alarm(20);
    use_everything();
    std::exit(0);
  }
  int status = 0;
  require(::waitpid(child, &status, 0) == child, "waitpid");
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    std::fprintf(stderr, "FAILED: child ended with exit code %d, signal %d\n",
                 WIFEXITED(status) ? WEXITSTATUS(status) : -1, WIFSIGNALED(status) ? WTERMSIG(status) : 0);
    ::_exit(98);
  }
}

// Threads in every state while `body` runs: spinning through yields, blocked, asleep, ready, holding a lock.
template <class Body>
int with_a_crowd(Body body) {
  weft::runtime::start({.workers = 4});
  std::atomic<bool> over{false};
  weft::counting_semaphore<> gate(0);
  weft::mutex held_by_one, used_by_all;
  weft::thread holder([&] {
    std::scoped_lock held(held_by_one);
    gate.acquire();
  });
  weft::thread crowd[12];
  for (int i = 0; i < 12; ++i) {
    crowd[i] = weft::thread([&, i] {
      if (i % 3 == 0)
        return gate.acquire();
      while (!over.load()) {
        if (i % 3 == 1) {
          std::scoped_lock held(used_by_all);
          weft::this_thread::yield();
        } else {
          weft::thread([] {}).join();
          weft::this_thread::sleep_for(100us);
        }
      }
    });
  }
  weft::binary_semaphore foreign_ended(0);
  std::thread foreign([&] {
    while (!over.load()) {
      weft::thread([] {}).join();
      std::this_thread::sleep_for(100us);
    }
    foreign_ended.release();
  });
  body();
  over.store(true);
  gate.release(13);
  holder.join();
  for (auto& one : crowd)
    one.join();
  foreign_ended.acquire(); // join() would block worker 0, which may have to run what the other waits for
  foreign.join();
  use_everything();
  return 0;
}

WEFT_SCENARIO(fork_from_main) {
  return with_a_crowd([] {
    for (int i = 0; i < rounds(); ++i)
      fork_once();
  });
}

WEFT_SCENARIO(fork_from_a_thread) {
  return with_a_crowd([] {
    weft::thread([] {
      for (int i = 0; i < rounds(); ++i) {
        fork_once();
        weft::this_thread::yield();
      }
    }).join();
  });
}

WEFT_SCENARIO(fork_from_many_threads) {
  return with_a_crowd([] {
    weft::thread t[4];
    for (auto& one : t) {
      one = weft::thread([] {
        for (int i = 0; i < rounds() / 4; ++i)
          fork_once();
      });
    }
    for (auto& one : t)
      one.join();
  });
}

// A tasklet may not wait: in the child it starts a thread that does. If the tasklet ran on its joiner's
// stack, the joiner goes on in the child as well.
WEFT_SCENARIO(fork_from_a_tasklet) {
  return with_a_crowd([] {
    bool in_the_child = false;
    for (int i = 0; i < rounds(); ++i) {
      weft::tasklet([&in_the_child] {
        const pid_t child = ::fork();
        require(child >= 0, "fork");
        if (child == 0) {
          ::alarm(20);
          in_the_child = true;
          weft::thread([] {
            use_everything();
            std::exit(0);
          }).detach();
          return;
        }
        int status = 0;
        require(::waitpid(child, &status, 0) == child, "waitpid");
        require(WIFEXITED(status) && WEXITSTATUS(status) == 0, "child of a tasklet");
      }).join();
      while (in_the_child)
        weft::this_thread::yield(); // until that thread ends the process
    }
  });
}

WEFT_SCENARIO(fork_from_a_foreign_kernel_thread) {
  return with_a_crowd([] {
    weft::binary_semaphore ended(0);
    std::thread forker([&ended] {
      for (int i = 0; i < rounds(); ++i)
        fork_once();
      ended.release();
    });
    ended.acquire();
    forker.join();
  });
}

WEFT_SCENARIO(fork_before_first_use) {
  fork_once();
  use_everything();
  fork_once();
  return 0;
}

WEFT_SCENARIO(fork_in_the_child) {
  return with_a_crowd([] {
    const pid_t child = ::fork();
    require(child >= 0, "fork");
    if (child == 0) {
      ::alarm(20);
      weft::thread([] { fork_once(); }).join();
      fork_once();
      use_everything();
      std::exit(0);
    }
    int status = 0;
    require(::waitpid(child, &status, 0) == child, "waitpid");
    require(WIFEXITED(status) && WEXITSTATUS(status) == 0, "child that forks");
  });
}

// The child returns from main.
WEFT_SCENARIO(fork_and_return_from_main) {
  return with_a_crowd([] {
    const pid_t child = ::fork();
    require(child >= 0, "fork");
    if (child == 0)
      ::alarm(20), use_everything(), ::_exit(0);
    int status = 0;
    require(::waitpid(child, &status, 0) == child && status == 0, "child");
  });
}

// A thread that was all that fork() left ends: so does its process, with code 0.
WEFT_SCENARIO(fork_from_a_thread_that_returns) {
  return with_a_crowd([] {
    for (int i = 0; i < rounds() / 10; ++i) {
      pid_t child = -1;
      weft::thread t([&child] {
        child = ::fork();
        if (child == 0)
          ::alarm(20), use_everything();
      });
      t.join();
      require(child > 0, "fork; the child never gets here");
      int status = 0;
      require(::waitpid(child, &status, 0) == child, "waitpid");
      require(WIFEXITED(status) && WEXITSTATUS(status) == 0, "child whose only thread returns");
    }
  });
}

// What the parent's other threads held is gone in the child; what the forking thread holds is its own to
// release.
WEFT_SCENARIO(fork_with_own_lock) {
  return with_a_crowd([] {
    weft::mutex m;
    for (int i = 0; i < rounds() / 10; ++i) {
      m.lock();
      const pid_t child = ::fork();
      if (child == 0) {
        ::alarm(20);
        m.unlock();
        weft::thread([&] { std::scoped_lock held(m); }).join();
        use_everything();
        std::exit(0);
      }
      m.unlock();
      int status = 0;
      require(::waitpid(child, &status, 0) == child, "waitpid");
      require(WIFEXITED(status) && WEXITSTATUS(status) == 0, "child with a lock");
    }
  });
}

// The kernel threads of other groups are the parent's: in the child their destructor has nobody to wait for.
// Timers of the parent's threads are nobody's.
WEFT_SCENARIO(fork_with_a_group_of_ones_own) {
  return with_a_crowd([] {
    for (int i = 0; i < rounds() / 10; ++i) {
      auto own =
          std::make_unique<weft::worker_group>(weft::group_options{.workers = 2,
                                                                   .pools = weft::arrangement::stealing,
                                                                   .bind = {},
                                                                   .primary_joins = {},
                                                                   .make_scheduler = {}});
      weft::thread_attributes there;
      there.pool = &own->next_pool();
      weft::thread sleeper(there, [] { weft::this_thread::sleep_for(1ms); });
      const pid_t child = ::fork();
      if (child == 0) {
        ::alarm(20);
        sleeper.detach();
        own.reset();
        weft::worker_group fresh({.workers = 1,
                                  .pools = weft::arrangement::one_pool,
                                  .bind = {},
                                  .primary_joins = {},
                                  .make_scheduler = {}});
        there.pool = &fresh.next_pool();
        weft::thread(there, [] { weft::this_thread::sleep_for(2ms); }).join();
        use_everything();
        std::exit(0);
      }
      sleeper.join();
      int status = 0;
      require(::waitpid(child, &status, 0) == child, "waitpid");
      require(WIFEXITED(status) && WEXITSTATUS(status) == 0, "child with a group");
    }
  });
}

// Others wait for I/O and block on spare threads meanwhile; the child has a source of its own, the parent's
// goes on.
WEFT_SCENARIO(fork_during_io) {
  return with_a_crowd([] {
    int there[2], back[2];
    require(::pipe(there) == 0 && ::pipe(back) == 0, "pipes");
    weft::thread echo([&] {
      char text = 0;
      while (weft::io::read(there[0], &text, 1, 20s) == 1)
        weft::io::write(back[1], &text, 1, 20s);
    });
    std::atomic<bool> over{false};
    weft::thread blocking([&] {
      while (!over)
        weft::blocking([] { ::usleep(100); });
    });
    for (int i = 0; i < rounds() / 10; ++i) {
      char text = 'x';
      weft::io::write(there[1], &text, 1, 20s);
      fork_once();
      require(weft::io::read(back[0], &text, 1, 20s) == 1, "the parent's I/O goes on");
    }
    over = true;
    blocking.join();
    weft::io::close(there[1]);
    echo.join();
    for (const int end : {there[0], back[0], back[1]})
      weft::io::close(end);
  });
}

class forking : public ::testing::TestWithParam<std::tuple<const char*, const char*>> {};

TEST_P(forking, child_and_parent_go_on) {
  const auto [scenario, pools] = GetParam();
  const auto result =
      weft::tests::run(scenario, {.environment = {{"WEFT_POOLS", pools}}, .limit = limit(), .argument = ""});
  EXPECT_EQ(result.exit_code, 0) << result.describe();
}

INSTANTIATE_TEST_SUITE_P(
    callers, forking,
    ::testing::Combine(::testing::Values("fork_from_main", "fork_from_a_thread", "fork_from_many_threads",
                                         "fork_from_a_tasklet", "fork_from_a_foreign_kernel_thread",
                                         "fork_before_first_use", "fork_in_the_child",
                                         "fork_and_return_from_main", "fork_from_a_thread_that_returns",
                                         "fork_with_own_lock", "fork_with_a_group_of_ones_own"),
                       ::testing::Values("stealing", "one", "private", "priorities")),
    [](const auto& info) { return std::string(std::get<0>(info.param)) + "_" + std::get<1>(info.param); });

TEST(forking_with, either_event_source) {
  for (const char* source : {"epoll", "uring"}) {
    const auto result = weft::tests::run(
        "fork_during_io", {.environment = {{"WEFT_IO", source}}, .limit = limit(), .argument = ""});
    EXPECT_EQ(result.exit_code, 0) << source << ": " << result.describe();
  }
}

} // namespace
