// SPDX-License-Identifier: MIT
// A random mix of everything at once, with invariants checked on the way and nothing left at the end.
// WEFT_STRESS_SEED=n repeats the choices of a run (not its interleaving; WEFT_SIM=n repeats both);
// WEFT_STRESS_SECONDS=n sets its length.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "weft/weft.hpp"

namespace {

using namespace std::chrono_literals;

std::uint64_t seed_of_run() {
  for (const char* name : {"WEFT_STRESS_SEED", "WEFT_SIM"}) { // a simulated run repeats its choices too
    if (const char* given = std::getenv(name))
      return std::strtoull(given, nullptr, 0);
  }
  return std::random_device{}();
}

double seconds_of_run() {
  const char* given = std::getenv("WEFT_STRESS_SECONDS");
  return given != nullptr ? std::atof(given) : 5.0;
}

// Of one of some seven instances.
std::chrono::nanoseconds end_of_run() {
  const std::chrono::duration<double> length(seconds_of_run() / 7);
  return weft::simulation::now() + std::chrono::duration_cast<std::chrono::nanoseconds>(length);
}

// What all share. `account` is guarded by `lock`: transfers keep the sum.
struct world {
  std::chrono::nanoseconds end;
  std::shared_ptr<weft::pool> side_pool;

  weft::mutex lock;
  weft::condition_variable changed;
  long account[8] = {};
  bool inside = false;
  std::uint64_t generation = 0;

  weft::counting_semaphore<> permits{3};
  std::atomic<int> holding{0};
  weft::counting_semaphore<> foreign_ended{0};
  std::atomic<long> started{0}, ended{0}, cancelled{0}, tasklets{0}, steps{0};

  [[nodiscard]] bool over() const { return weft::simulation::now() >= end; }
};

void check(bool condition, const char* what) {
  if (condition)
    return;
  std::fprintf(stderr, "invariant broken: %s\n", what);
  std::abort();
}

// Counts its life by construction and destruction: a cancelled thread must unwind.
struct alive {
  world& w;
  explicit alive(world& of) : w(of) { w.started.fetch_add(1); }
  ~alive() { w.ended.fetch_add(1); }
};

long fib(int n) {
  if (n < 2)
    return n;
  auto other = weft::fork([n] { return fib(n - 1); });
  const long mine = fib(n - 2);
  return other.join() + mine;
}

void transfer(world& w, std::mt19937_64& random) {
  std::scoped_lock held(w.lock);
  check(!std::exchange(w.inside, true), "two threads in one critical section");
  const long amount = static_cast<long>(random() % 100);
  w.account[random() % 8] += amount;
  w.account[random() % 8] -= amount;
  long sum = 0;
  for (const long a : w.account)
    sum += a;
  check(sum == 0, "transfers keep the sum");
  w.inside = false;
}

void timed_transfer(world& w, std::mt19937_64& random) {
  std::unique_lock held(w.lock, std::defer_lock);
  if (!w.lock.try_lock())
    return;
  w.lock.unlock();
  transfer(w, random);
}

void take_permit(world& w, std::mt19937_64& random) {
  const bool got = random() % 2 != 0 ? w.permits.try_acquire_for(std::chrono::microseconds(random() % 500))
                                     : (w.permits.acquire(), true);
  if (!got)
    return;
  check(w.holding.fetch_add(1) < 3, "more permits than there are");
  const struct giver { // a cancelled thread unwinds from the yield
    world& w;
    ~giver() {
      w.holding.fetch_sub(1);
      w.permits.release();
    }
  } at_end{w};
  weft::this_thread::yield();
}

void wait_for_generation(world& w, std::mt19937_64& random) {
  std::unique_lock held(w.lock);
  const std::uint64_t seen = w.generation;
  if (random() % 2 != 0) {
    ++w.generation;
    w.changed.notify_all();
  } else {
    w.changed.wait_for(held, std::chrono::microseconds(random() % 300), [&] { return w.generation != seen; });
  }
}

void one_life(world& w, std::uint64_t seed, int depth);

void children(world& w, std::mt19937_64& random, int depth) {
  if (depth == 0)
    return;
  std::vector<weft::thread> joined;
  const int count = 1 + static_cast<int>(random() % 3);
  for (int i = 0; i < count; ++i) {
    const std::uint64_t seed = random();
    weft::thread t([&w, seed, depth] { one_life(w, seed, depth - 1); });
    if (random() % 8 == 0)
      t.cancel();
    joined.push_back(std::move(t));
  }
  for (auto& t : joined) {
    while (random() % 4 == 0 && t.joinable()) {
      if (t.try_join_for(std::chrono::microseconds(random() % 200)))
        break;
    }
    if (t.joinable())
      t.join();
  }
}

void one_step(world& w, std::mt19937_64& random, int depth) {
  w.steps.fetch_add(1, std::memory_order_relaxed);
  switch (random() % 12) {
  case 0:
  case 1:
    return weft::this_thread::yield();
  case 2:
    return transfer(w, random);
  case 3:
    return timed_transfer(w, random);
  case 4:
    return take_permit(w, random);
  case 5:
    return wait_for_generation(w, random);
  case 6:
    weft::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
    return;
  case 7:
    return children(w, random, depth);
  case 8:
    return check(fib(8) == 21, "fork and join of fib(8)");
  case 9: {
    weft::tasklet t([&w] { w.tasklets.fetch_add(1); });
    return t.join();
  }
  case 10:
    try {
      weft::this_thread::migrate_to(*w.side_pool);
    } catch (const std::system_error&) {
    }
    return;
  case 11: {
    auto gate = std::make_shared<weft::binary_semaphore>(0);
    weft::thread([gate] { gate->release(); }).detach();
    return gate->acquire();
  }
  }
}

void one_life(world& w, std::uint64_t seed, int depth) {
  const alive counted(w);
  std::mt19937_64 random(seed);
  const int steps = 1 + static_cast<int>(random() % 12);
  for (int i = 0; i < steps && !w.over(); ++i)
    one_step(w, random, depth);
}

void foreign_life(world& w, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  while (!w.over()) {
    switch (random() % 5) {
    case 0:
      transfer(w, random);
      break;
    case 1:
      take_permit(w, random);
      break;
    case 2:
      wait_for_generation(w, random);
      break;
    case 3: {
      const std::uint64_t child = random();
      weft::thread([&w, child] { one_life(w, child, 1); }).join();
      break;
    }
    case 4:
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
      break;
    }
  }
  w.foreign_ended.release();
}

class mix : public ::testing::TestWithParam<std::tuple<weft::arrangement, unsigned>> {};

TEST_P(mix, keeps_its_invariants) {
  const auto [pools, workers] = GetParam();
  const std::uint64_t seed = seed_of_run();
  std::printf("WEFT_STRESS_SEED=%llu\n", static_cast<unsigned long long>(seed));
  std::fflush(stdout);
  weft::runtime::start({.workers = workers, .pools = pools});
  weft::thread([] {}).join();
  const auto before = weft::runtime::count();
  world w;
  w.side_pool = weft::make_pool(weft::order::fifo, weft::access::mpmc);
  // A group of its own serves the pool that threads migrate to.
  weft::group_options beside;
  beside.workers = 2;
  beside.pools = weft::arrangement::custom;
  beside.make_scheduler = [&w](unsigned) {
    return std::make_shared<weft::fifo_scheduler>(std::vector<std::shared_ptr<weft::pool>>{w.side_pool});
  };
  {
    weft::worker_group others(beside);
    w.end = end_of_run();
    std::vector<std::thread> foreign; // a simulation has none
    for (std::uint64_t i = 0; i < 2 && !weft::simulation::active(); ++i)
      foreign.emplace_back([&w, s = seed + 1 + i] { foreign_life(w, s); });
    std::mt19937_64 random(seed);
    while (!w.over()) {
      std::vector<weft::thread> crowd;
      for (int i = 0; i < 32; ++i) {
        const std::uint64_t child = random();
        crowd.emplace_back([&w, child] { one_life(w, child, 2); });
      }
      for (auto& t : crowd)
        t.join();
    }
    // First as a thread: std::thread::join() blocks worker 0, which may have to run what they wait for.
    for (std::size_t i = 0; i < foreign.size(); ++i)
      w.foreign_ended.acquire();
    for (auto& f : foreign)
      f.join();
    // Detached ones end a moment later.
    for (int i = 0; i < 1000 && weft::runtime::count().units != before.units; ++i)
      weft::this_thread::sleep_for(1ms);
  }
  EXPECT_EQ(w.started.load(), w.ended.load());
  EXPECT_EQ(w.holding.load(), 0);
  const auto after = weft::runtime::count();
  EXPECT_EQ(after.units, before.units);
  EXPECT_EQ(after.stacks, before.stacks);
  EXPECT_EQ(after.timers, 0u);
  std::printf("%ld lives, %ld steps, %ld tasklets\n", w.started.load(), w.steps.load(), w.tasklets.load());
  EXPECT_GT(w.steps.load(), 100);
  EXPECT_TRUE(weft::runtime::stop());
}

INSTANTIATE_TEST_SUITE_P(set_ups, mix,
                         ::testing::Values(std::tuple(weft::arrangement::stealing, 1u),
                                           std::tuple(weft::arrangement::stealing, 2u),
                                           std::tuple(weft::arrangement::stealing, 8u),
                                           std::tuple(weft::arrangement::hierarchical, 4u),
                                           std::tuple(weft::arrangement::one_pool, 4u),
                                           std::tuple(weft::arrangement::pool_per_worker, 1u),
                                           std::tuple(weft::arrangement::pool_per_worker, 4u),
                                           std::tuple(weft::arrangement::priorities, 4u)));

// Workers come and go under load.
TEST(mix_resized, workers_come_and_go) {
  const std::uint64_t seed = seed_of_run();
  std::printf("WEFT_STRESS_SEED=%llu\n", static_cast<unsigned long long>(seed));
  weft::runtime::start({.workers = 2});
  weft::thread([] {}).join();
  const auto before = weft::runtime::count();
  world w;
  w.side_pool = weft::make_pool(weft::order::fifo, weft::access::mpmc);
  w.end = end_of_run();
  std::mt19937_64 random(seed);
  while (!w.over()) {
    std::vector<weft::thread> crowd;
    for (int i = 0; i < 16; ++i) {
      crowd.emplace_back([&w] {
        const alive counted(w);
        for (int step = 0; step < 20; ++step) {
          if (step % 5 == 0) {
            weft::this_thread::sleep_for(100us);
          } else {
            weft::this_thread::yield();
          }
        }
        check(fib(10) == 55, "fib(10)");
      });
    }
    weft::runtime::set_worker_count(1 + static_cast<unsigned>(random() % 6));
    for (auto& t : crowd)
      t.join();
  }
  weft::runtime::set_worker_count(2);
  EXPECT_EQ(w.started.load(), w.ended.load());
  EXPECT_EQ(weft::runtime::count().units, before.units);
  EXPECT_EQ(weft::runtime::count().stacks, before.stacks);
  EXPECT_TRUE(weft::runtime::stop());
}

} // namespace
