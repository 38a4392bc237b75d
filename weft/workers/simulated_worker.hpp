// SPDX-License-Identifier: MIT
// What the simulator (simulator/simulation.hpp) keeps with a worker.
#pragma once

#include "weft/workers/decision_count.hpp"

namespace weft::sched {

class virtual_thread;

// Of a worker. Ownership: the worker.
struct simulated_worker {
  virtual_thread* runs_on = nullptr;     // null for worker 0 and where nothing is simulated
  std::int32_t budget = decision_budget; // the worker's own is used up at all times
};

} // namespace weft::sched
