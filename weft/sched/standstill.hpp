// SPDX-License-Identifier: MIT
// All threads of the process wait, and nothing is left that could wake one: said once, or the process is
// ended (WEFT_STANDSTILL). When it speaks: README.md, "Standstill".
#pragma once

#include "weft/base/export.hpp"
#include "weft/events/timer_queue.hpp"

namespace weft::sched {

struct standstill {
  // Called by a worker that has announced that it parks, and would sleep without a limit, before it does.
  // True: it is worth another look after a while. Contexts: the worker's own stack. Switches: never; may end
  // the process.
  static bool look() noexcept;

  static constexpr unsigned most_looks_again = 3; // in a row
  // In nanoseconds, how long a worker with this number waits that has looked at `now`, after `looks` others
  // [0, most_looks_again), before it looks again. Workers that look at once see each other awake, and pauses
  // of one length would bring them together again: so each has another. Contexts: any.
  WEFT_API static deadline pause(unsigned looks, unsigned number, deadline now) noexcept;
};

} // namespace weft::sched
