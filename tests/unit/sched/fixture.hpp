// SPDX-License-Identifier: MIT
// What the tests of this room need of the rooms above: there is no default group here, and a worker can be
// held still.
#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "weft/sched/default_group.hpp"
#include "weft/unit/descriptor.hpp"
#include "weft/workers/group.hpp"
#include "weft/workers/pool.hpp"
#include "weft/workers/scheduler.hpp"
#include "weft/workers/worker.hpp"

namespace weft::sched::test {

// Two workers that pools and schedulers may ask for, of a group whose only running worker serves a pool of
// its own and so stays away from the pools under test. They have no kernel thread: as_worker makes the
// calling one pass for them.
class stage {
 public:
  stage() : group_(one_worker()), first_(group_, 1), second_(group_, 2) {
    for (worker* w : {&first_, &second_})
      w->use_scheduler(std::make_shared<fifo_scheduler>(
          std::vector<std::shared_ptr<pool>>{make_pool(order::fifo, access::mpmc)}));
  }
  worker& first() { return first_; }
  worker& second() { return second_; }
  group& all() { return group_; }

 private:
  static group_options one_worker() {
    group_options o;
    o.workers = 1;
    o.pools = arrangement::pool_per_worker;
    return o;
  }
  group group_;
  worker first_;
  worker second_;
};

class as_worker {
 public:
  explicit as_worker(worker& w) { set_here(&w); }
  ~as_worker() { set_here(nullptr); }
  as_worker(const as_worker&) = delete;
};

// Units that never run.
struct dummy : descriptor {
  explicit dummy(pool& home, int l = 0) : descriptor{} {
    static constexpr unit::operations none{nullptr, nullptr, nullptr};
    unit::initialise(*this, none, &home, unit::kind_thread);
    level = l;
  }
};

} // namespace weft::sched::test
