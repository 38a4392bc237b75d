// SPDX-License-Identifier: MIT
// What the tests of this room need of the rooms above: there is no default group here, and a worker can be
// held still.
#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "weft/sched/default_group.hpp"
#include "weft/sched/group.hpp"
#include "weft/sched/pool.hpp"
#include "weft/sched/scheduler.hpp"
#include "weft/sched/worker.hpp"
#include "weft/unit/descriptor.hpp"

namespace weft::sched::test {

// A group whose one worker serves a pool of its own, and so stays away from the pools under test. Its worker
// object stands for a worker where pools and schedulers ask for one; as_worker makes the calling kernel
// thread pass for it meanwhile.
class stage {
 public:
  stage() {
    group_options o;
    o.workers = 2;
    o.pools = arrangement::pool_per_worker;
    group_ = std::make_unique<group>(std::move(o));
  }
  worker& first() { return group_->member(0); }
  worker& second() { return group_->member(1); }
  group& all() { return *group_; }

 private:
  std::unique_ptr<group> group_;
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
