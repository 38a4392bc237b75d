// SPDX-License-Identifier: MIT
// The same seed gives the same schedule, others give others; bugs of order are found and come again; time is
// virtual; what belongs to a kernel thread stays with each worker.
#include "tests/simulation/simulate.hpp"

#include <cerrno>
#include <cstdio>
#include <memory>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;
using weft::test::seeds;
using weft::test::simulate;

long fib(int n) {
  if (n < 2)
    return n;
  auto other = weft::fork([n] { return fib(n - 1); });
  const long mine = fib(n - 2);
  return other.join() + mine;
}

// Some of everything.
void mixture() {
  weft::mutex lock;
  weft::counting_semaphore<> permits{2};
  long sum = 0;
  std::vector<weft::thread> threads;
  for (int i = 0; i < 12; ++i) {
    threads.emplace_back([&, i] {
      permits.acquire();
      {
        const std::scoped_lock held(lock);
        sum += i;
      }
      weft::this_thread::yield();
      permits.release();
      weft::this_thread::sleep_for(10us * i);
    });
  }
  EXPECT_EQ(fib(8), 21);
  for (auto& t : threads)
    t.join();
  EXPECT_EQ(sum, 66);
}

TEST(simulation, same_seed_same_schedule) {
  for (const unsigned workers : {1U, 2U, 3U, 8U}) {
    for (std::uint64_t seed = 0; seed < seeds(10); ++seed) {
      const auto first = simulate(seed, workers, &mixture);
      const auto second = simulate(seed, workers, &mixture);
      EXPECT_EQ(first.schedule, second.schedule) << seed << " with " << workers;
      EXPECT_EQ(first.decisions, second.decisions);
      EXPECT_EQ(first.now, second.now);
      EXPECT_GT(first.decisions, 100U);
    }
  }
}

TEST(simulation, other_seeds_other_schedules) {
  std::set<std::uint64_t> schedules;
  for (std::uint64_t seed = 0; seed < 50; ++seed)
    schedules.insert(simulate(seed, 4, &mixture).schedule);
  EXPECT_EQ(schedules.size(), 50U);
}

// Every arrangement, every number of workers up to 8.
class set_ups : public ::testing::TestWithParam<weft::arrangement> {};
TEST_P(set_ups, run) {
  for (unsigned workers = 1; workers <= 8; ++workers) {
    for (std::uint64_t seed = 0; seed < seeds(3); ++seed) {
      weft::runtime::options how{.workers = workers, .pools = GetParam()};
      simulate(seed, how, &mixture);
    }
  }
}
INSTANTIATE_TEST_SUITE_P(arrangements, set_ups,
                         ::testing::Values(weft::arrangement::stealing, weft::arrangement::hierarchical,
                                           weft::arrangement::one_pool, weft::arrangement::pool_per_worker,
                                           weft::arrangement::priorities, weft::arrangement::packing));

TEST(simulation, many_more_workers_than_cores) {
  std::set<unsigned> seen;
  weft::simulation::counts counts;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    counts = simulate(seed, 64, [&] {
      std::vector<weft::thread> threads;
      std::mutex unused; // nobody else runs while it is held
      for (int i = 0; i < 500; ++i) {
        threads.emplace_back([&] {
          for (int step = 0; step < 10; ++step)
            weft::this_thread::yield();
          const std::scoped_lock held(unused);
          seen.insert(weft::sched::here().number);
        });
      }
      for (auto& t : threads)
        t.join();
      EXPECT_EQ(fib(12), 144);
    });
  }
  EXPECT_GT(seen.size(), 50U);
  EXPECT_GT(counts.switches, 1000U);
}

// --- bugs of order ---

// Reads and writes in two sections: what another one has added meanwhile is lost.
struct account {
  weft::mutex lock;
  long value = 0;
  void add(long n) {
    long seen;
    {
      const std::scoped_lock held(lock);
      seen = value;
    }
    const std::scoped_lock held(lock);
    value = seen + n;
  }
};

long add_twice(std::uint64_t seed) {
  long value = 0;
  simulate(seed, 2, [&value] {
    account a;
    weft::thread first([&a] { a.add(1); });
    weft::thread second([&a] { a.add(1); });
    first.join();
    second.join();
    value = a.value;
  });
  return value;
}

// Tells the creator's child of `data` before it is there.
bool child_sees_null(std::uint64_t seed) {
  bool found = false;
  simulate(seed, 2, [&found] {
    const int value = 1;
    const int* data = nullptr;
    weft::thread child([&] { found = data == nullptr; });
    data = &value;
    child.join();
  });
  return found;
}

template <class Fails>
std::uint64_t first_seed_that_fails(std::uint64_t tries, Fails fails) {
  for (std::uint64_t seed = 0; seed < tries; ++seed) {
    if (fails(seed))
      return seed;
  }
  return tries;
}

TEST(simulation, a_lost_update_is_found_and_comes_again) {
  const auto loses = [](std::uint64_t seed) { return add_twice(seed) == 1; };
  const std::uint64_t seed = first_seed_that_fails(100, loses);
  ASSERT_LT(seed, 100U);
  std::printf("lost with WEFT_SIM=%llu\n", static_cast<unsigned long long>(seed));
  for (int i = 0; i < 5; ++i)
    EXPECT_TRUE(loses(seed));
  EXPECT_LT(first_seed_that_fails(100, [&](std::uint64_t s) { return !loses(s); }), 100U); // nor always
}

TEST(simulation, a_publication_too_late_is_found_and_comes_again) {
  const std::uint64_t seed = first_seed_that_fails(100, &child_sees_null);
  ASSERT_LT(seed, 100U);
  for (int i = 0; i < 5; ++i)
    EXPECT_TRUE(child_sees_null(seed));
}

TEST(simulation, a_point_of_ones_own_makes_a_race_visible) {
  const auto loses = [](std::uint64_t seed) {
    int value = 0; // no lock
    simulate(seed, 2, [&value] {
      const auto add = [&value] {
        const int seen = value;
        weft::simulation::point();
        value = seen + 1;
      };
      weft::thread first(add);
      weft::thread second(add);
      first.join();
      second.join();
    });
    return value == 1;
  };
  EXPECT_LT(first_seed_that_fails(100, loses), 100U);
}

// --- time ---

TEST(simulation, an_hour_takes_no_time) {
  bool timed_out = false;
  const auto counts = simulate(1, 4, [&timed_out] {
    weft::thread t([] { weft::this_thread::sleep_for(1h); });
    weft::binary_semaphore never{0};
    timed_out = !never.try_acquire_for(30min);
    t.join();
  });
  EXPECT_TRUE(timed_out);
  EXPECT_GE(counts.now, std::chrono::nanoseconds(1h).count());
  EXPECT_LT(counts.now, std::chrono::nanoseconds(2h).count());
  EXPECT_LT(counts.decisions, 100'000U);
}

TEST(simulation, timeouts_come_in_their_order) {
  for (std::uint64_t seed = 0; seed < seeds(20); ++seed) {
    std::vector<int> order;
    simulate(seed, 4, [&order] {
      std::vector<weft::thread> threads;
      for (const int i : {3, 1, 2}) {
        threads.emplace_back([&order, i] {
          weft::this_thread::sleep_for(10ms * i);
          order.push_back(i);
        });
      }
      for (auto& t : threads)
        t.join();
    });
    EXPECT_EQ(order, (std::vector{1, 2, 3})) << seed;
  }
}

// --- what belongs to a kernel thread ---

TEST(simulation, errno_and_exceptions_stay_with_their_worker) {
  for (std::uint64_t seed = 0; seed < seeds(20); ++seed) {
    simulate(seed, 4, [] {
      std::vector<weft::thread> threads;
      for (int i = 1; i <= 16; ++i) {
        threads.emplace_back([i] {
          for (int round = 0; round < 5; ++round) {
            try {
              throw std::runtime_error(std::to_string(i));
            } catch (const std::runtime_error& e) {
              errno = i;
              weft::simulation::point();
              EXPECT_EQ(errno, i);
              EXPECT_EQ(std::string(e.what()), std::to_string(i));
              try {
                throw;
              } catch (const std::runtime_error& again) {
                EXPECT_EQ(&again, &e);
              }
            }
            EXPECT_EQ(std::uncaught_exceptions(), 0);
            weft::this_thread::yield();
          }
        });
      }
      for (auto& t : threads)
        t.join();
    });
  }
}

// The kernel thread that is no worker, while it does not wait, runs as one of them.
TEST(simulation, the_host_stays_outside) {
  std::thread([] { // not main's: none of its code becomes a thread of Weft
    for (std::uint64_t seed = 0; seed < seeds(20); ++seed) {
      int sum = 0;
      simulate(seed, 3, [&sum] {
        EXPECT_FALSE(weft::sched::on_worker());
        weft::binary_semaphore done{0};
        weft::thread t([&] {
          for (int i = 0; i < 10; ++i) {
            weft::thread child([&sum, i] { sum += i; });
            child.join();
          }
          done.release();
        });
        done.acquire();
        t.join();
      });
      EXPECT_EQ(sum, 45);
    }
  })
      .join();
}

// A group beside the default one.
TEST(simulation, a_group_of_ones_own) {
  for (std::uint64_t seed = 0; seed < seeds(20); ++seed) {
    simulate(seed, 2, [] {
      weft::group_options o;
      o.workers = 3;
      weft::worker_group group(o);
      weft::thread_attributes a;
      a.pool = &group.next_pool();
      int sum = 0;
      weft::thread t(a, [&sum] {
        for (int i = 0; i < 10; ++i) {
          weft::thread child([&sum, i] { sum += i; });
          child.join();
        }
      });
      t.join();
      EXPECT_EQ(sum, 45);
    });
  }
}

TEST(simulation, workers_come_and_go) {
  for (std::uint64_t seed = 0; seed < seeds(5); ++seed) {
    simulate(seed, 2, [] {
      std::vector<weft::thread> threads;
      for (int i = 0; i < 20; ++i) {
        threads.emplace_back([] {
          for (int step = 0; step < 20; ++step)
            weft::this_thread::yield();
        });
      }
      for (const unsigned workers : {5U, 1U, 7U, 3U})
        weft::runtime::set_worker_count(workers);
      for (auto& t : threads)
        t.join();
    });
  }
}

} // namespace
