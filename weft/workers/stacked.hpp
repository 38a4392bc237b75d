// SPDX-License-Identifier: MIT
// Schedulers as units: pushed into a pool, entered by the worker that picks them, left when their pools are
// empty or their share of decisions is used up; then the parent goes on. (Argobots' stackable schedulers,
// without a stack of their own.)
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "weft/unit/descriptor.hpp"
#include "weft/workers/scheduler.hpp"

namespace weft::sched {

struct worker;

// Of a worker: schedulers that were pushed into pools, innermost last. Ownership: the worker.
struct stacked_schedulers {
  std::vector<std::shared_ptr<scheduler>> schedulers;
  std::vector<descriptor*> units; // theirs, same order
  std::int32_t budget = 0;        // decisions before the one below has a turn
};

// Makes a unit of `child` and pushes it into `into`. It ends, and can be joined, when the pools of `child`
// were found empty. Contexts: all but signal handlers. Switches: never. Errors: std::bad_alloc;
// std::system_error(invalid_argument) for a null scheduler.
WEFT_API descriptor& push_scheduler(pool& into, std::shared_ptr<scheduler> child);

std::shared_ptr<scheduler> scheduler_of_unit(descriptor& u) noexcept;
// Publishes the end of a scheduler's unit and frees what belongs to it. GONE: u.
void end_scheduler_unit(worker& w, descriptor& u) noexcept;
// The same for a tasklet.
void end_without_stack(worker& w, descriptor& u) noexcept;

} // namespace weft::sched
