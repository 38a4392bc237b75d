// SPDX-License-Identifier: MIT
// Whoever looks at workers from time to time rests while all of them stand still, so that an idle process
// stays idle.
#pragma once

#include <cstdint>

#include "weft/base/atomic.hpp"
#include "weft/base/fence.hpp"
#include "weft/os/futex.hpp"

namespace weft::park {

// Ordering. The watcher writes that it rests, (R1) full fence, and looks at the workers again. A worker
// writes that it does not stand still any more, (R2) full fence, and reads whether the watcher rests. One of
// the two sees what the other wrote: the look finds the worker, or the worker wakes the watcher.
class watcher_rest {
 public:
  // `may_rest()` is the second look. Returns when somebody has called rouse(), or at once. Contexts: the one
  // who watches.
  template <class MayRest>
  void rest(MayRest may_rest) noexcept {
    rests_.store_relaxed(1);
    base::full_fence(); // (R1) pairs with (R2)
    while (rests_.load_relaxed() != 0 && may_rest())
      os::futex_wait(&rests_, 1);
    rests_.store_relaxed(0);
  }
  // By whoever stands still no more, or has another reason to look. Contexts: all, SIGNAL-SAFE. Switches:
  // never.
  void rouse() noexcept {
    base::full_fence(); // (R2) pairs with (R1)
    if (rests_.load_relaxed() == 0)
      return;
    rests_.store_relaxed(0);
    os::futex_wake(&rests_, 1);
  }

 private:
  base::atomic<std::uint32_t> rests_{0}; // a futex
};

} // namespace weft::park
