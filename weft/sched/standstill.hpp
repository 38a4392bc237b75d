// SPDX-License-Identifier: MIT
// All threads of the process wait, and nothing is left that could wake one: said once, or the process is
// ended (WEFT_STANDSTILL). When it speaks: README.md, "Standstill".
#pragma once

namespace weft::sched {

struct standstill {
  // Called by a worker that has announced that it parks, and would sleep without a limit, before it does.
  // True: it is worth another look after a while. Contexts: the worker's own stack. Switches: never; may end
  // the process.
  static bool look() noexcept;
};

} // namespace weft::sched
