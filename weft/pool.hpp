// SPDX-License-Identifier: MIT
// Pools, schedulers and groups of workers under their public names. Writing a pool: derive from weft::pool
// and override do_push, do_pop and size. Writing a scheduler: derive from weft::scheduler, or give
// weft::scheduler_of a type with next().
#pragma once

#include "weft/arrange/packing.hpp"
#include "weft/arrange/priority.hpp"
#include "weft/workers/group.hpp"
#include "weft/workers/pool.hpp"
#include "weft/workers/scheduler.hpp"
#include "weft/workers/stacked.hpp"

namespace weft {

using sched::access;
using sched::arrangement;
using sched::class_pool;
using sched::class_scheduler;
using sched::event_source;
using sched::fifo_scheduler;
using sched::group_options;
using sched::hierarchical_scheduler;
using sched::make_pool;
using sched::order;
using sched::packing_scheduler;
using sched::picking_policy;
using sched::pool;
using sched::priority_scheduler;
using sched::push_scheduler;
using sched::random_stealing_scheduler;
using sched::scheduler;
using sched::scheduler_of;
using sched::worker;
using worker_group = sched::group;
using unit_handle = unit::descriptor;
using deque_pool = sched::deque_pool;

// The container link of a unit, for pools of your own that use weft::queue.
inline queue::link& link_of(unit_handle& u) noexcept {
  return u.link;
}
inline unit_handle& unit_of(queue::link& l) noexcept {
  return unit::descriptor::from(l);
}

} // namespace weft
