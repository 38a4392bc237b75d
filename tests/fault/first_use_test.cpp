// SPDX-License-Identifier: MIT
// What a process allocates once, at first use: each attempt has a process of its own, in which nothing has
// been used yet. Then the start and the stop of the runtime, where deques grow, and schedulers on schedulers.
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "tests/fault/fail_each.hpp"
#include "weft/memory/stack_depot.hpp"

namespace {

using namespace weft::fault_test;
using weft::arrangement;

enum verdict : int { met_the_fault = 0, got_through = 1, wrong = 2 };

// Runs `body` in a child and returns how that ended; a signal counts as wrong.
int in_a_child(const std::function<int()>& body) {
  const pid_t child = ::fork();
  if (child == 0)
    ::_exit(body());
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : wrong + WTERMSIG(status);
}

bool says(bool good, const char* what) {
  if (!good)
    std::fprintf(stderr, "in the child: %s\n", what);
  return good;
}

// In the child: the nth call of the site fails in `operation`, after which `nothing_left()` must hold and the
// operation succeed.
int first_use(fault_site site, std::uint64_t nth, const std::function<void()>& operation,
              const std::function<bool()>& nothing_left) {
  const std::exception_ptr error = attempt(site, nth, reach::everywhere, operation);
  const bool hit = weft::os::fault_hits(site) != 0;
  try {
    if (error)
      std::rethrow_exception(error);
  } catch (const std::exception& e) {
    if (!says(hit, "an error without a fault") || !says(clear(e), e.what()))
      return wrong;
  }
  if (!nothing_left())
    return wrong;
  if (hit) {
    try {
      operation();
    } catch (const std::exception& e) {
      says(false, e.what());
      return wrong;
    }
    if (!nothing_left())
      return wrong;
  }
  return hit ? met_the_fault : got_through;
}

// The number of attempts that met the fault.
std::uint64_t fail_each_first_use(fault_site site, const std::function<void()>& operation,
                                  const std::function<bool()>& nothing_left) {
  for (std::uint64_t nth = 1; nth <= 500; ++nth) {
    const int how = in_a_child([&] { return first_use(site, nth, operation, nothing_left); });
    if (how == got_through)
      return nth - 1;
    EXPECT_EQ(how, met_the_fault) << name_of(site) << " call " << nth;
    if (how != met_the_fault)
      return nth;
  }
  ADD_FAILURE() << "still failing";
  return 0;
}

void use_it() {
  std::atomic<int> ran{0};
  weft::thread({.name = "named"}, [&ran] { ++ran; }).join();
  weft::thread([&ran, room = std::array<char, 100>{}] {
    static_cast<void>(room);
    ++ran;
  }).join();
  weft::binary_semaphore never(0);
  if (never.try_acquire_for(std::chrono::microseconds(1)))
    throw std::logic_error("acquired");
  if (ran != 2)
    throw std::logic_error("a thread was lost");
}

TEST(first_use, explicit_start) {
  ASSERT_FALSE(weft::runtime::running());
  for (const arrangement pools : {arrangement::stealing, arrangement::hierarchical, arrangement::one_pool,
                                  arrangement::pool_per_worker}) {
    for (const auto& [site, name] : all_sites) {
      const auto hits = fail_each_first_use(
          site,
          [pools] {
            const weft::runtime::scope use({.workers = 3, .pools = pools, .bind = true});
            use_it();
          },
          [] {
            return says(!weft::runtime::running(), "the runtime is left running") &&
                   says(kernel_threads_settled_at(1) == 1, "kernel threads are left") &&
                   says(weft::runtime::count().units == 0, "units are left") &&
                   says(weft::runtime::count().stacks == 0, "stacks are left");
          });
      if (site == fault_site::memory || site == fault_site::mmap || site == fault_site::thread_create) {
        EXPECT_GT(hits, 1U) << name;
      }
    }
  }
}

// Guards of the other kind, which take a call for each stack.
TEST(first_use, guards_by_mprotect) {
  ASSERT_FALSE(weft::runtime::running());
  const auto guards = [] {
    ::setenv("WEFT_GUARD", "mprotect", 1);
    return int{weft::memory::stack_depot::process().guard() != weft::memory::guard_mode::mprotect};
  };
  if (in_a_child(guards) != 0)
    GTEST_SKIP() << "a test before this one, in the same process, has decided on the guards";
  for (const auto& [site, name] : all_sites) {
    const auto hits = fail_each_first_use(
        site,
        [] {
          ::setenv("WEFT_GUARD", "mprotect", 1); // read at the first use, which is in this child
          const weft::runtime::scope use({.workers = 2});
          use_it();
        },
        [] {
          return says(!weft::runtime::running(), "the runtime is left running") &&
                 says(weft::runtime::count().stacks == 0, "stacks are left");
        });
    if (site == fault_site::mprotect) {
      EXPECT_GT(hits, 0U);
    }
  }
}

// Whoever wanted a thread and could not have the runtime has not relied on it: a start() and stop() of
// somebody else's still stops it.
TEST(first_use, automatic_start) {
  ASSERT_FALSE(weft::runtime::running());
  for (const auto& [site, name] : all_sites) {
    for (std::uint64_t nth = 1;; ++nth) {
      const int how = in_a_child([site = site, nth] {
        const std::function<void()> operation = use_it;
        const std::exception_ptr error = attempt(site, nth, reach::everywhere, operation);
        const bool hit = weft::os::fault_hits(site) != 0;
        if (!weft::runtime::running()) {
          if (!says(error != nullptr, "neither a runtime nor an error"))
            return int{wrong};
          weft::runtime::start({.workers = 2});
          use_it();
          return says(weft::runtime::stop(), "stop() is taken for automatic") ? int{met_the_fault}
                                                                              : int{wrong};
        }
        use_it();
        return says(weft::runtime::count().units == 0, "units are left")
                   ? int{hit ? met_the_fault : got_through}
                   : int{wrong};
      });
      if (how == got_through)
        break;
      ASSERT_EQ(how, met_the_fault) << name << " call " << nth;
      ASSERT_LT(nth, 500U);
    }
  }
}

TEST(first_use, from_a_foreign_kernel_thread) {
  ASSERT_FALSE(weft::runtime::running());
  for (const auto& [site, name] : all_sites) {
    const auto hits = fail_each_first_use(
        site,
        [] {
          std::exception_ptr error;
          weft::runtime::start({.workers = 1, .pools = arrangement::one_pool});
          try {
            std::thread([&] {
              try {
                weft::thread t([] {});
                t.detach();
              } catch (...) {
                error = std::current_exception();
              }
            }).join();
          } catch (...) {
            error = std::current_exception();
          }
          while (weft::sched::here().main_pool.load_acquire()->size() != 0)
            weft::this_thread::yield();
          weft::runtime::stop();
          // std::thread's own memory: not ours to phrase
          if (error)
            throw std::bad_alloc();
        },
        [] { return says(!weft::runtime::running(), "the runtime is left running"); });
    if (site == fault_site::memory) {
      EXPECT_GT(hits, 1U) << name;
    }
  }
}

// Nobody can be told: what stop() allocates must be there already.
TEST(runtime_stop, cannot_fail) {
  for (const arrangement pools : {arrangement::stealing, arrangement::hierarchical, arrangement::one_pool,
                                  arrangement::pool_per_worker}) {
    for (const auto& [site, name] : all_sites) {
      for (std::uint64_t nth = 1;; ++nth) {
        const std::size_t before = kernel_threads();
        weft::runtime::start({.workers = 3, .pools = pools});
        weft::thread([] {}).join();
        bool stopped = false;
        const auto stop = [&] { stopped = weft::runtime::stop(); };
        EXPECT_EQ(attempt(site, nth, reach::everywhere, stop), nullptr);
        EXPECT_TRUE(stopped);
        EXPECT_EQ(kernel_threads_settled_at(before), before);
        if (weft::os::fault_hits(site) == 0)
          break;
        ASSERT_LT(nth, 500U) << name;
      }
    }
  }
}

// --- deques that grow. One worker, so that nobody steals and their length is known. ---

constexpr std::size_t beyond_two_growths = 600; // a deque begins with 256

class growing_deque : public ::testing::Test {
 protected:
  // Each attempt needs a deque that has not grown.
  template <class Body>
  static void for_each_allocation(Body body) {
    for (std::uint64_t nth = 1;; ++nth) {
      weft::runtime::start({.workers = 1});
      const auto before = weft::runtime::count();
      body(nth);
      const bool hit = weft::os::fault_hits(fault_site::memory) != 0;
      const auto after = weft::runtime::count();
      EXPECT_EQ(after.units, before.units) << nth;
      EXPECT_EQ(after.stacks, before.stacks) << nth;
      EXPECT_TRUE(weft::runtime::stop());
      if (!hit) {
        EXPECT_GT(nth, 2U) << "the deque did not grow";
        return;
      }
      ASSERT_LT(nth, 100U);
      ASSERT_FALSE(HasFailure());
    }
  }
  template <class Operation>
  static std::exception_ptr with_fault(std::uint64_t nth, Operation operation) {
    return attempt(fault_site::memory, nth, reach::everywhere, operation);
  }
  static void expect_clear(const std::exception_ptr& error) {
    try {
      if (error)
        std::rethrow_exception(error);
    } catch (const std::exception& e) {
      EXPECT_TRUE(clear(e)) << e.what();
    }
  }
};

TEST_F(growing_deque, threads_are_created) {
  for_each_allocation([](std::uint64_t nth) {
    std::vector<weft::thread> made;
    made.reserve(beyond_two_growths);
    std::atomic<int> ran{0};
    const auto create = [&] {
      while (made.size() < beyond_two_growths)
        made.emplace_back([&ran] { ++ran; });
    };
    expect_clear(with_fault(nth, create));
    EXPECT_NO_THROW(create());
    for (auto& t : made)
      t.join();
    EXPECT_EQ(ran.load(), static_cast<int>(beyond_two_growths));
  });
}

// The closure's destructor runs although the thread never does. Each closure is an allocation of its own;
// those around the first growth fail.
TEST_F(growing_deque, threads_with_large_closures_are_created) {
  for (std::uint64_t nth = 255; nth <= 262; ++nth) {
    weft::runtime::start({.workers = 1});
    const auto before = weft::runtime::count();
    const auto counted = std::make_shared<int>(0);
    std::vector<weft::thread> made;
    made.reserve(beyond_two_growths);
    const auto create = [&] {
      while (made.size() < beyond_two_growths)
        made.emplace_back([counted, room = std::array<char, 100>{}] { static_cast<void>(room); });
    };
    const std::exception_ptr error = with_fault(nth, create);
    EXPECT_EQ(weft::os::fault_hits(fault_site::memory), 1U) << nth;
    expect_clear(error);
    EXPECT_EQ(static_cast<std::size_t>(counted.use_count()), made.size() + 1) << nth;
    EXPECT_NO_THROW(create());
    for (auto& t : made)
      t.join();
    EXPECT_EQ(counted.use_count(), 1) << nth;
    EXPECT_EQ(weft::runtime::count().units, before.units) << nth;
    EXPECT_TRUE(weft::runtime::stop());
  }
}

TEST_F(growing_deque, forks) {
  for_each_allocation([](std::uint64_t nth) {
    std::atomic<std::size_t> ran{0};
    const auto call = [&ran] { ++ran; };
    std::size_t offered = 0;
    {
      std::vector<std::optional<weft::forked<decltype(call)>>> all(beyond_two_growths);
      const auto offer = [&] {
        for (; offered < all.size(); ++offered)
          all[offered].emplace(call);
      };
      expect_clear(with_fault(nth, offer));
      EXPECT_NO_THROW(offer());
      while (!all.empty())
        all.pop_back(); // joins, the youngest first
    }
    EXPECT_EQ(ran.load(), beyond_two_growths);
  });
}

// Whoever wakes threads is told of no error, so there is none: they run.
TEST_F(growing_deque, threads_are_woken) {
  for_each_allocation([](std::uint64_t nth) {
    weft::latch go(1);
    std::atomic<std::size_t> ran{0};
    std::vector<weft::thread> waiting;
    for (std::size_t i = 0; i < beyond_two_growths; ++i) {
      waiting.emplace_back([&] {
        go.wait();
        ++ran;
      });
      while (waiting.back().state() != weft::unit::state::blocked)
        weft::this_thread::yield();
    }
    EXPECT_EQ(with_fault(nth, [&] { go.count_down(); }), nullptr);
    for (auto& t : waiting)
      t.join();
    EXPECT_EQ(ran.load(), beyond_two_growths);
  });
}

// What others left in the inbox goes to the deque in the worker's loop, which may not throw.
TEST_F(growing_deque, inbox_is_emptied) {
  for_each_allocation([](std::uint64_t nth) {
    std::atomic<std::size_t> ran{0};
    std::vector<weft::thread> own, foreign;
    for (int i = 0; i < 200; ++i)
      own.emplace_back([&ran] { ++ran; });
    std::thread([&] {
      for (int i = 0; i < 200; ++i)
        foreign.emplace_back([&ran] { ++ran; });
    }).join();
    EXPECT_EQ(with_fault(nth,
                         [&] {
                           while (ran.load() != 400)
                             weft::this_thread::yield();
                         }),
              nullptr);
    for (auto& t : own)
      t.join();
    for (auto& t : foreign)
      t.join();
  });
}

// --- schedulers on schedulers ---

TEST(stacked_scheduler, waits_for_memory) {
  for (const auto& [site, name] : all_sites) {
    bool failed = false;
    for (std::uint64_t nth = 1;; ++nth) {
      weft::runtime::start({.workers = 1, .pools = arrangement::one_pool}); // `stacked` has no room yet
      const auto before = weft::runtime::count();
      const std::shared_ptr<weft::pool> inner = weft::make_pool(weft::order::fifo, weft::access::mpmc);
      const auto child = std::make_shared<weft::fifo_scheduler>(std::vector{inner});
      std::atomic<int> ran{0};
      weft::thread in_it({.pool = inner.get()}, [&ran] { ++ran; });
      weft::unit_handle* pushed = nullptr;
      const auto push = [&] {
        pushed = &weft::push_scheduler(*weft::sched::here().main_pool.load_acquire(), child);
      };
      const auto push_and_run = [&] {
        push();
        while (ran.load() == 0)
          weft::this_thread::yield();
      };
      const std::exception_ptr error = attempt(site, nth, reach::everywhere, push_and_run);
      const bool hit = weft::os::fault_hits(site) != 0;
      if (error) {
        failed = true;
        EXPECT_EQ(pushed, nullptr) << name << " " << nth;
        EXPECT_NO_THROW(push_and_run()) << name << " " << nth;
      }
      in_it.join();
      weft::sched::join(*pushed);
      weft::sched::free_unit(weft::sched::here(), *pushed);
      EXPECT_EQ(weft::runtime::count().units, before.units);
      EXPECT_TRUE(weft::runtime::stop());
      if (!hit)
        break;
      ASSERT_LT(nth, 100U);
    }
    if (site == fault_site::memory) {
      EXPECT_TRUE(failed);
    }
  }
}

} // namespace
