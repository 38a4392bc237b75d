// SPDX-License-Identifier: MIT
#pragma once

#include "tests/model/checker/model.hpp"
#include "weft/base/atomic.hpp"

#include <cstdint>

namespace weft::model {

/// The waiter of the library without a scheduler.
class waiter {
 public:
  bool notify() noexcept {
    std::uint32_t expected = 0;
    if (!state_.cas_strong_acq_rel(expected, 1))
      return false;
    unpark(thread_);
    return true;
  }
  bool wait(bool timed) noexcept {
    while (state_.load_acquire() == 0) {
      std::uint32_t expected = 0;
      if (!timed) {
        park();
      } else if (!park_timed() && state_.cas_strong_acq_rel(expected, 2)) {
        return false;
      }
    }
    return true;
  }

 private:
  const unsigned thread_ = self();
  base::atomic<std::uint32_t> state_{0};
};

} // namespace weft::model
