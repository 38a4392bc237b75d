// SPDX-License-Identifier: MIT
// What the files of this room share.
#pragma once

#include <memory>
#include <vector>

#include "weft/base/kernel_mutex.hpp"
#include "weft/runtime/runtime.hpp"

namespace weft::runtime {

struct process_state {
  base::kernel_mutex lock; // starting and stopping
  std::atomic<sched::group*> group{nullptr};
  unsigned users = 0;                // start() without stop()
  bool automatic = false;            // somebody relied on the automatic start
  std::vector<sched::group*> others; // of fronts, for exit
  unsigned forks_seen = 0;           // group::forks() when `others` last grew
};

// Never destroyed: threads may still run while statics are.
process_state& state() noexcept;

} // namespace weft::runtime
