// SPDX-License-Identifier: MIT
// One simulated run of a piece of program, with the count of what it leaves.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "tests/unit/census_check.hpp"
#include "weft/weft.hpp"

namespace weft::test {

// `body()` runs as the primary thread of `workers` simulated workers.
template <class Body>
simulation::counts simulate(std::uint64_t seed, const runtime::options& how, Body body) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  const simulation::scope simulated(seed);
  EXPECT_TRUE(runtime::start(how));
  census_check census;
  census.begin();
  body();
  // Detached units end a moment later.
  for (int i = 0; i < 100 && runtime::count().units != census.before().units; ++i)
    this_thread::sleep_for(std::chrono::milliseconds(1));
  census.end();
  EXPECT_TRUE(runtime::stop());
  return simulation::count();
}

template <class Body>
simulation::counts simulate(std::uint64_t seed, unsigned workers, Body body) {
  return simulate(seed, runtime::options{.workers = workers}, body);
}

// How many seeds a test tries: `few`, or more for ./do soak.
inline std::uint64_t seeds(std::uint64_t few) {
  const char* given = std::getenv("WEFT_SIMULATION_SEEDS");
  return given != nullptr ? std::strtoull(given, nullptr, 0) : few;
}

} // namespace weft::test
