// SPDX-License-Identifier: MIT
// A random mix of everything at once, with invariants checked on the way: what stress tests run for a while.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>

#include "weft/weft.hpp"

namespace weft::test::stress {

// WEFT_STRESS_SEED, or that of a simulation, or drawn; printed.
std::uint64_t seed_of_run();
// WEFT_STRESS_SECONDS.
std::chrono::duration<double> length_of_run();

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
  bool everything = false; // ticks and descriptors too; not in simulations
  std::atomic<long> started{0}, ended{0}, cancelled{0}, tasklets{0}, steps{0};

  [[nodiscard]] bool over() const { return weft::simulation::now() >= end; }
};

// Aborts, and says what.
void check(bool condition, const char* what);
long fib(int n);

// Counts its life by construction and destruction: a cancelled thread must unwind.
struct alive {
  world& w;
  explicit alive(world& of) : w(of) { w.started.fetch_add(1); }
  ~alive() { w.ended.fetch_add(1); }
};

struct set_up {
  arrangement pools;
  unsigned workers;
};

// Starts the runtime, lets crowds live until `w.end`, beside two kernel threads that are not workers; stops
// it. Nothing may be left.
void live(const set_up& where, std::uint64_t seed, world& w);

} // namespace weft::test::stress
