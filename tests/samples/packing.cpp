// SPDX-License-Identifier: MIT
// Samples of docs/guide/packing.md.
#include <weft/packing.hpp>
#include <weft/preemption.hpp>
#include <weft/runtime.hpp>
#include <weft/thread.hpp>

#include <array>
#include <atomic>
#include <vector>

#include "tests/samples/check.hpp"

using samples::check;

namespace {

void fewer() {
  const weft::runtime::scope runtime;
  std::atomic<int> ran{0};
  // [sample fewer-workers]
  weft::runtime::set_active_workers(1);  // of as many as there are
  std::vector<weft::thread> threads;
  for (int i = 0; i < 8; ++i) threads.emplace_back([&ran] { ++ran; });
  for (weft::thread& t : threads) t.join();
  weft::runtime::set_active_workers(weft::runtime::worker_count());
  // [/sample]
  check(ran == 8, "one worker ran them all");
}

using cells = std::array<double, 4>;
void relax(cells& grid, unsigned i) {
  for (int k = 0; k < 10'000; ++k)
    grid[i] = 0.5 * grid[i] + 1.0;
}

void regions() {
  cells grid{};
  // [sample packed-region]
  weft::runtime::options options;
  options.workers = 4;
  options.pools = weft::arrangement::packing;
  const weft::runtime::scope runtime(options);
  weft::runtime::set_active_workers(3);

  weft::packed_region sweep(weft::runtime::default_group());
  for (int step = 0; step < 10; ++step) {
    sweep.run(4, [&](unsigned i) { relax(grid, i); });  // relax() for i = 0, 1, 2, 3; returns when all have
  }
  // [/sample]
  for (const double g : grid)
    check(g > 1.99, "every thread has run");
  check(sweep.was_planned(), "the last run was laid out");
}

}  // namespace

int main() {
  fewer();
  if (weft::can_preempt(weft::preemption::own_tls))
    regions();
}
