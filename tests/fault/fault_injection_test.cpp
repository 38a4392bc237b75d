// SPDX-License-Identifier: MIT
// Each call of the system that the runtime makes fails in turn, during start, creation, first runs, joins,
// sleeps and growth. Whatever fails: a clear error or a delay, everything that was created still ends,
// nothing is left, and a retry succeeds.
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

#include "tests/fault/fail_each.hpp"
#include "weft/os/fault.hpp"
#include "weft/weft.hpp"

namespace {

using namespace std::chrono_literals;
using namespace weft::fault_test;

// How many calls `work` makes at a site, when nothing fails.
template <class Work>
std::uint64_t calls_of(fault_site site, Work work) {
  const allocations_may_fail open(reach::everywhere);
  weft::os::count_calls(site);
  work();
  weft::os::disarm_faults();
  return weft::os::fault_calls(site);
}

void expect_clear(const std::exception_ptr& error, const char* site, std::uint64_t nth) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& e) {
    EXPECT_TRUE(clear(e)) << site << " " << nth << ": " << e.what();
  }
}

// Tries `work` with each of its calls failing in turn; errors must be clear. `work` is run once more after
// each, unarmed.
template <class Work>
void fail_each(fault_site site, const char* name, Work work, std::uint64_t most = 40) {
  std::uint64_t failures = 0;
  const std::uint64_t calls = calls_of(site, work);
  for (std::uint64_t nth = 1; nth <= std::min(calls + 1, most); ++nth) {
    if (const std::exception_ptr error = attempt(site, nth, reach::everywhere, work)) {
      ++failures;
      expect_clear(error, name, nth);
    }
    EXPECT_NO_THROW(work()) << "retry after " << name << " " << nth;
  }
  std::printf("%-14s %3llu calls, %llu errors\n", name, static_cast<unsigned long long>(calls),
              static_cast<unsigned long long>(failures));
}

class fault_injection : public ::testing::Test {
 protected:
  ~fault_injection() override { weft::os::disarm_faults(); }
};

// A group beside the default runtime starts and stops; nothing stays behind.
TEST_F(fault_injection, start_of_a_group) {
  const std::size_t before = kernel_threads();
  for (const auto& [site, name] : all_sites) {
    fail_each(site, name, [] {
      weft::group_options o;
      o.workers = 3;
      weft::worker_group g(o);
    });
    EXPECT_EQ(kernel_threads_settled_at(before), before) << name;
  }
}

TEST_F(fault_injection, start_of_the_runtime) {
  ASSERT_FALSE(weft::runtime::running());
  for (const auto& [site, name] : all_sites) {
    fail_each(site, name, [] {
      const weft::runtime::scope use({.workers = 3});
      std::atomic<int> ran{0};
      weft::thread t[4];
      int created = 0;
      for (auto& one : t) {
        one = weft::thread([&] { ran.fetch_add(1); });
        ++created;
      }
      for (auto& one : t)
        one.join();
      if (ran.load() != created)
        throw std::logic_error("a thread was lost");
    });
    EXPECT_FALSE(weft::runtime::running()) << name;
  }
}

class with_runtime : public ::testing::TestWithParam<weft::arrangement> {
 protected:
  void SetUp() override {
    weft::runtime::start({.workers = 3, .pools = GetParam()});
    weft::thread([] {}).join();
    before_ = weft::runtime::count();
  }
  void TearDown() override {
    weft::os::disarm_faults();
    const auto after = weft::runtime::count();
    EXPECT_EQ(after.units, before_.units);
    EXPECT_EQ(after.stacks, before_.stacks);
    EXPECT_EQ(after.timers, 0u);
    EXPECT_TRUE(weft::runtime::stop());
  }

 private:
  weft::runtime::census before_{};
};

// Creates as many as can be had; all that were created run and are joined, whatever fails.
void create_run_join(std::size_t stack_size, int count) {
  std::atomic<int> ran{0};
  std::vector<weft::thread> created;
  created.reserve(static_cast<std::size_t>(count));
  std::exception_ptr error;
  try {
    for (int i = 0; i < count; ++i) {
      created.emplace_back(
          weft::thread_attributes{.stack_size = stack_size, .name = i % 2 != 0 ? "named" : nullptr}, [&ran] {
            weft::this_thread::yield();
            ran.fetch_add(1);
          });
    }
  } catch (...) {
    error = std::current_exception();
  }
  for (auto& t : created)
    t.join();
  if (ran.load() != static_cast<int>(created.size()))
    throw std::logic_error("a thread was lost");
  if (error)
    std::rethrow_exception(error);
}

TEST_P(with_runtime, creation_and_first_run) {
  std::size_t size = 40 << 10;
  for (const auto& [site, name] : all_sites) {
    // A size of its own each time: its slabs have to be mapped.
    fail_each(site, name, [&size] { create_run_join(size += 4096, 200); }, 10);
  }
}

// No stack can be had for a while: threads wait, and start when there is memory again.
TEST_P(with_runtime, threads_wait_for_stacks) {
  std::atomic<int> ran{0};
  weft::os::fail_after(fault_site::mmap, 0, ENOMEM);
  std::thread rescue([] {
    std::this_thread::sleep_for(50ms);
    weft::os::disarm_faults();
  });
  std::vector<weft::thread> created;
  for (int i = 0; i < 2000; ++i) {
    try {
      created.emplace_back(weft::thread_attributes{.stack_size = 3 << 20}, [&ran] { ran.fetch_add(1); });
    } catch (const std::exception& e) {
      EXPECT_TRUE(clear(e)) << e.what();
    }
  }
  for (auto& t : created)
    t.join();
  rescue.join();
  EXPECT_EQ(ran.load(), static_cast<int>(created.size()));
}

TEST_P(with_runtime, timers) {
  weft::binary_semaphore never(0);
  weft::mutex m;
  weft::condition_variable changed;
  fail_each(fault_site::timer_create, "timer_create", [&] {
    weft::this_thread::sleep_for(10us);
    if (never.try_acquire_for(10us))
      throw std::logic_error("acquired");
    std::unique_lock held(m);
    if (changed.wait_for(held, 10us, [] { return false; }))
      throw std::logic_error("notified");
    held.unlock();
    weft::thread t([] { weft::this_thread::yield(); });
    try {
      while (!t.try_join_for(10us)) {
      }
    } catch (...) {
      t.join();
      throw;
    }
  });
  EXPECT_TRUE(m.try_lock());
  m.unlock();
  never.release();
  EXPECT_TRUE(never.try_acquire());
}

INSTANTIATE_TEST_SUITE_P(arrangements, with_runtime,
                         ::testing::Values(weft::arrangement::stealing, weft::arrangement::one_pool,
                                           weft::arrangement::pool_per_worker));

// A worker that cannot be had leaves the group as it was.
TEST_F(fault_injection, growth) {
  weft::runtime::start({.workers = 2});
  weft::thread([] {}).join();
  for (const auto& [site, name] : all_sites) {
    std::uint64_t failed = 0;
    for (std::uint64_t nth = 1; nth <= 10; ++nth) {
      const auto grow = [] { weft::runtime::set_worker_count(4); };
      if (const std::exception_ptr error = attempt(site, nth, reach::everywhere, grow)) {
        ++failed;
        expect_clear(error, name, nth);
        EXPECT_LT(weft::runtime::worker_count(), 4u);
      }
      EXPECT_NO_THROW(create_run_join(0, 50)) << name << " " << nth;
      EXPECT_NO_THROW(weft::runtime::set_worker_count(4)) << name << " " << nth;
      EXPECT_NO_THROW(create_run_join(0, 50)) << name << " " << nth;
      EXPECT_NO_THROW(weft::runtime::set_worker_count(2)) << name << " " << nth;
    }
    if (site == fault_site::thread_create) {
      EXPECT_EQ(failed, 2u);
    }
  }
  EXPECT_TRUE(weft::runtime::stop());
}

} // namespace
