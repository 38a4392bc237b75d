// SPDX-License-Identifier: MIT
// The sample of docs/guide/simulation.md.
#include <cstdint>
#include <cstdio>
#include <mutex>

#include "weft/weft.hpp"

namespace {

int failed(std::uint64_t seed) {
  std::printf("failed with seed %llu\n", static_cast<unsigned long long>(seed));
  return 1;
}

} // namespace

int main() {
  // [sample simulation]
  const auto runs_right = [](std::uint64_t seed) {
    const weft::simulation::scope simulated(seed); // begins and ends without workers
    const weft::runtime::scope runtime({.workers = 3});
    long sum = 0;
    weft::mutex lock;
    const auto add = [&] {
      const std::scoped_lock held(lock);
      ++sum;
    };
    weft::thread one(add);
    weft::thread other(add);
    one.join();
    other.join();
    return sum == 2;
  };
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    if (!runs_right(seed))
      return failed(seed); // the same seed fails again
  }
  // [/sample]
  return 0;
}
