// SPDX-License-Identifier: MIT
// Workers that sleep because fewer are wanted, and whose schedulers others serve meanwhile (activity.cpp).
#pragma once

#include <memory>

#include "weft/base/atomic.hpp"

namespace weft::sched {

class scheduler;
struct worker;

// The main scheduler of a worker that sleeps although it has pools of its own: another worker serves it
// meanwhile. Ownership: the worker that it is with; on the way, `arriving` of the next.
struct lodger {
  std::shared_ptr<scheduler> lent;
  worker* whose = nullptr;
  lodger* next = nullptr;
};

// Of a worker. Ownership: the worker, but for `arriving`.
struct worker_activity {
  unsigned rank = 0;                   // place in its group
  bool withdrawn = false;              // serves `local` alone
  lodger lodging;                      // this worker's scheduler, while it is elsewhere
  std::shared_ptr<scheduler> stand_in; // what the worker has instead; made under the group's lock
  lodger* lodgers = nullptr;           // others' schedulers that this worker serves
  lodger* lodger_turn = nullptr;       // whose turn it is; null: its own
  base::atomic<lodger*> arriving{nullptr};
};

} // namespace weft::sched
