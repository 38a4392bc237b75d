// SPDX-License-Identifier: MIT
// The mix, with ticks and descriptors, in one process for as long as it is told: runtimes of all arrangements
// start and stop again and again, and what the process holds does not grow. `./do soak` gives it an hour.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <iostream>
#include <thread>

#include "tests/stress/footprint.hpp"
#include "tests/stress/mix.hpp"

namespace weft::test::stress {
namespace {

using namespace std::chrono_literals;

constexpr set_up set_ups[] = {{arrangement::stealing, 2},        {arrangement::hierarchical, 4},
                              {arrangement::one_pool, 3},        {arrangement::packing, 2},
                              {arrangement::pool_per_worker, 4}, {arrangement::priorities, 4},
                              {arrangement::pool_per_worker, 1}, {arrangement::stealing, 8}};

// Descriptors and kernel threads are exact. The rest has a play that does not depend on how long it takes:
// caches of malloc's and of ours, which are as large as the largest crowd so far.
constexpr std::size_t resident_play_kib = 48 * 1024;
constexpr std::size_t allocated_play = std::size_t{1} << 20;
constexpr std::size_t mappings_play = 64;

// A kernel thread that was joined may be seen for a moment more.
footprint settled(std::size_t kernel_threads) {
  footprint f = footprint::now();
  for (int looks = 0; f.kernel_threads > kernel_threads && looks < 2000; ++looks) {
    std::this_thread::sleep_for(1ms);
    f = footprint::now();
  }
  return f;
}

// The most of some turns.
footprint most_of(const std::array<footprint, std::size(set_ups)>& all) {
  footprint most;
  for (const footprint& each : all) {
    most.resident_kib = std::max(most.resident_kib, each.resident_kib);
    most.allocated = std::max(most.allocated, each.allocated);
    most.mappings = std::max(most.mappings, each.mappings);
    most.descriptors = std::max(most.descriptors, each.descriptors);
    most.kernel_threads = std::max(most.kernel_threads, each.kernel_threads);
  }
  return most;
}

TEST(endurance, nothing_grows) {
  constexpr std::size_t turns = std::size(set_ups);
  std::uint64_t seed = seed_of_run();
  // At least three times through all arrangements; a crowd of two seconds if there is time.
  const auto length = length_of_run();
  const auto crowd = std::min(length / (3 * turns), std::chrono::duration<double>(2s));
  const auto end = std::chrono::steady_clock::now() + length;
  std::size_t before = 0;
  long steps = 0;
  std::array<footprint, turns> held; // after each of the last ones
  footprint early;
  std::size_t turn = 0;
  for (; turn < 3 * turns || std::chrono::steady_clock::now() < end; ++turn) {
    world w;
    w.everything = true;
    w.end = simulation::now() + std::chrono::duration_cast<std::chrono::nanoseconds>(crowd);
    live(set_ups[turn % turns], seed++, w);
    if (turn < turns)
      before = std::max(before, footprint::now().kernel_threads);
    held[turn % turns] = settled(before);
    steps += w.steps.load();
    ASSERT_FALSE(HasFailure()) << "in turn " << turn << ", WEFT_STRESS_SEED=" << seed - 1;
    if (turn == 2 * turns - 1)
      early = most_of(held); // not the first time through, which fills caches
    if (turn >= 2 * turns && std::has_single_bit(turn + 1))
      std::cout << "turn " << turn + 1 << ": " << most_of(held) << std::endl;
  }
  const footprint late = most_of(held);
  std::cout << turn << " turns, " << steps << " steps\nfirst: " << early << "\nlast: " << late << '\n';
  EXPECT_LE(late.descriptors, early.descriptors);
  EXPECT_LE(late.kernel_threads, early.kernel_threads);
  EXPECT_LE(late.mappings, early.mappings + mappings_play);
  EXPECT_LE(late.allocated, early.allocated + allocated_play);
  EXPECT_LE(late.resident_kib, early.resident_kib + resident_play_kib);
}

} // namespace
} // namespace weft::test::stress
