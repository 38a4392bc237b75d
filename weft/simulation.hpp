// SPDX-License-Identifier: MIT
// Simulation: all workers in turn on one kernel thread, with every choice from a seed, so that a run can be
// repeated. A program need not ask for it: WEFT_SIM=seed does. docs/guide/simulation.md.
#pragma once

#include <chrono>
#include <cstdint>

#include "weft/simulator/simulation.hpp"

namespace weft::simulation {

// What a run was: its seed, how many choices of who goes on, how often another worker did, a hash of the
// schedule, virtual nanoseconds. The same program with the same seed gives the same.
using counts = sched::simulation::counts;

// Whether this process is simulated. Contexts: all.
[[nodiscard]] inline bool active() noexcept {
  return sched::simulation::is_active();
}

// Of the simulation that is under way, or of the last one that a scope has ended; else zeros. Contexts: all
// but signal handlers. Switches: never.
[[nodiscard]] inline counts count() noexcept {
  return sched::simulation::count();
}

// Another worker may go on here; for code that would race with it on other machines, between two steps of
// its own. Nothing outside of simulations. Contexts: all but signal handlers. Switches: never.
inline void point() noexcept {
  if (active()) [[unlikely]]
    sched::simulation::point(sched::simulation::at::user);
}

// Virtual time: what timeouts are measured by. Real time outside of simulations. Contexts: all.
[[nodiscard]] WEFT_API std::chrono::nanoseconds now() noexcept;

// What starts workers while one lives is simulated. Begins and ends where there are no workers. Errors:
// std::system_error(operation_not_permitted) if there are, or it is simulated already, as with WEFT_SIM.
class scope {
 public:
  explicit scope(std::uint64_t seed) { sched::simulation::begin(seed); }
  // Ends the process if there are workers still.
  ~scope() { sched::simulation::end(); }
  scope(const scope&) = delete;
  scope& operator=(const scope&) = delete;
};

} // namespace weft::simulation
