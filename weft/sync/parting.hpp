// SPDX-License-Identifier: MIT
// What a queue of waiters does with those who have been decided and not come back, before it goes.
#pragma once

#include "weft/sync/waiter.hpp"

namespace weft::sync {

/// Takes out who has been decided and has not come back for the primitive's lock: he finds that (W5) before
/// he touches the primitive. True: somebody was faster, and is about to take the lock. *Contexts*: the lock
/// is held.
template <class Fifo>
bool somebody_leaves(Fifo& list) noexcept {
  Fifo staying;
  bool leaves = false;
  while (queue::link* const l = list.pop_front()) {
    waiter& w = waiter::from(*l);
    const bool decided = w.is_decided();
    if (decided && w.part()) { // (W5)
      continue;                // GONE: w
    }
    leaves = leaves || decided;
    staying.push_back(l);
  }
  list.splice_back(staying);
  return leaves;
}

} // namespace weft::sync
