// SPDX-License-Identifier: MIT
// std::mutex for locks that are held while units are made ready or workers are waited for: in a simulation
// the owner and who wants the lock may be virtual workers of one kernel thread, so the latter lets others
// run.
#pragma once

#include "weft/base/virtual_kernel.hpp"

#include <mutex>

namespace weft::base {

// Ownership, contexts: as std::mutex. Switches: never.
class kernel_mutex {
 public:
  constexpr kernel_mutex() noexcept = default;
  kernel_mutex(const kernel_mutex&) = delete;
  kernel_mutex& operator=(const kernel_mutex&) = delete;

  void lock() {
    virtual_kernel* const simulated = virtual_kernel_here();
    if (simulated == nullptr) [[likely]]
      return mutex_.lock();
    while (!mutex_.try_lock())
      simulated->yield();
  }
  bool try_lock() { return mutex_.try_lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  std::mutex mutex_;
};

} // namespace weft::base
