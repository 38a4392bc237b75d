// SPDX-License-Identifier: MIT
// The checker's doorbell, in place of weft/os/doorbell.hpp: a count of rings, on which its owner sleeps until
// it is another than the one it knows.
#pragma once

#include "weft/base/atomic.hpp"
#include "weft/os/futex.hpp"

#include <cstdint>

namespace weft::os {

class doorbell {
 public:
  void ring() noexcept {
    rings_.fetch_add_acq_rel(1);
    futex_wake(&rings_, 1);
  }
  // As an edge: each ring is heard once.
  void wait() noexcept {
    while (rings_.load_acquire() == heard_)
      futex_wait(&rings_, heard_);
    heard_ = rings_.load_acquire();
  }

 private:
  base::atomic<std::uint32_t> rings_{0};
  std::uint32_t heard_ = 0; // the owner's
};

} // namespace weft::os
