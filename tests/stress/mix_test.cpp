// SPDX-License-Identifier: MIT
// The mix under each arrangement, and while workers come and go.
// WEFT_STRESS_SEED=n repeats the choices of a run (not its interleaving; WEFT_SIM=n repeats both);
// WEFT_STRESS_SECONDS=n sets its length.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <random>
#include <vector>

#include "tests/stress/mix.hpp"

namespace weft::test::stress {
namespace {

using namespace std::chrono_literals;

// Of one of some seven instances.
std::chrono::nanoseconds end_of_run() {
  return simulation::now() + std::chrono::duration_cast<std::chrono::nanoseconds>(length_of_run() / 7);
}

class mix : public ::testing::TestWithParam<std::tuple<arrangement, unsigned>> {};

TEST_P(mix, keeps_its_invariants) {
  const auto [pools, workers] = GetParam();
  const std::uint64_t seed = seed_of_run();
  world w;
  w.end = end_of_run();
  live({pools, workers}, seed, w);
  std::printf("%ld lives, %ld steps, %ld tasklets\n", w.started.load(), w.steps.load(), w.tasklets.load());
  EXPECT_GT(w.steps.load(), 100);
}

INSTANTIATE_TEST_SUITE_P(
    set_ups, mix,
    ::testing::Values(std::tuple(arrangement::stealing, 1u), std::tuple(arrangement::stealing, 2u),
                      std::tuple(arrangement::stealing, 8u), std::tuple(arrangement::hierarchical, 4u),
                      std::tuple(arrangement::one_pool, 4u), std::tuple(arrangement::pool_per_worker, 1u),
                      std::tuple(arrangement::pool_per_worker, 4u), std::tuple(arrangement::priorities, 4u)));

// Workers come and go under load.
TEST(mix_resized, workers_come_and_go) {
  const std::uint64_t seed = seed_of_run();
  runtime::start({.workers = 2});
  thread([] {}).join();
  const auto before = runtime::count();
  world w;
  w.side_pool = make_pool(order::fifo, access::mpmc);
  w.end = end_of_run();
  std::mt19937_64 random(seed);
  while (!w.over()) {
    std::vector<thread> crowd;
    for (int i = 0; i < 16; ++i) {
      crowd.emplace_back([&w] {
        const alive counted(w);
        for (int step = 0; step < 20; ++step) {
          if (step % 5 == 0) {
            this_thread::sleep_for(100us);
          } else {
            this_thread::yield();
          }
        }
        check(fib(10) == 55, "fib(10)");
      });
    }
    runtime::set_worker_count(1 + static_cast<unsigned>(random() % 6));
    for (auto& t : crowd)
      t.join();
  }
  runtime::set_worker_count(2);
  EXPECT_EQ(w.started.load(), w.ended.load());
  EXPECT_EQ(runtime::count().units, before.units);
  EXPECT_EQ(runtime::count().stacks, before.stacks);
  EXPECT_TRUE(runtime::stop());
}

} // namespace
} // namespace weft::test::stress
