// SPDX-License-Identifier: MIT
// What a simulation tells people, on stderr.
#pragma once

#include "weft/simulator/simulation.hpp"

namespace weft::sched {

// Contexts of all: the host of a simulation. Switches: never.
struct simulation_report {
  // One line a choice; null: the host, outside of Weft.
  static void choice(std::uint64_t decision, deadline now, simulation::at where, const worker* from,
                     const worker* to) noexcept;
  static void deadlock(std::uint64_t seed, std::uint64_t decisions, deadline now) noexcept;
  // One that waits.
  static void waiting(const worker* w, bool is_host) noexcept;
  static void summary(const simulation::counts& c) noexcept;
};

} // namespace weft::sched
