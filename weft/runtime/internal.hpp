// SPDX-License-Identifier: MIT
// What the files of this room share.
#pragma once

#include <atomic>

#include "weft/base/kernel_mutex.hpp"
#include "weft/runtime/runtime.hpp"

namespace weft::runtime {

struct process_state {
  base::kernel_mutex lock; // starting and stopping
  std::atomic<sched::group*> group{nullptr};
  unsigned users = 0;                    // start() without stop()
  bool automatic = false;                // somebody relied on the automatic start
  std::atomic<bool> stands_still{false}; // exit() has been called while `group` was there
};

// Never destroyed: threads may still run while statics are.
process_state& state() noexcept;

// An exception that nobody catches is told with its thread's name.
void install_terminate_handler() noexcept;

} // namespace weft::runtime
