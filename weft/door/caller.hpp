// SPDX-License-Identifier: MIT
// Who calls. Interfaces of C promise other things to a kernel thread than to a thread of ours, and refuse
// what would suspend a caller that cannot be suspended.
#pragma once

#include "weft/door/deadline.hpp"
#include "weft/workers/worker.hpp"

#include <algorithm>
#include <cstdint>

namespace weft::door {

enum class caller : std::uint8_t {
  foreign, // a kernel thread that runs no unit of Weft's
  thread,  // whoever made it, and whatever it stands for: a scheduler's loop, main()
  tasklet,
  loop // the loop of a worker itself: what pools, schedulers and migrations call back
};

/// *Contexts*: in the runtime; all but signal handlers. *Switches*: never. *Errors*: none.
[[nodiscard]] inline caller who() noexcept {
  const sched::worker& w = sched::here();
  if (w.attention.any_relaxed(sched::not_a_worker))
    return caller::foreign;
  switch (w.current->kind()) {
  case unit::kind_thread:
    return caller::thread;
  case unit::kind_tasklet:
    return caller::tasklet;
  default:
    return caller::loop;
  }
}

/// Whether the caller may stand in a queue of the runtime's: a thread is suspended then, a foreign kernel
/// thread blocks. A tasklet has no stack to leave, and a loop cannot be suspended. *Contexts*, *Switches*,
/// *Errors*: as who().
[[nodiscard]] inline bool may_wait() noexcept {
  const caller c = who();
  return c == caller::thread || c == caller::foreign;
}

/// For those who may not: blocks the kernel thread, and so the worker, until `done()`; false: the time has
/// passed. The pauses bound both the load and the delay. *Contexts*: all but signal handlers. *Switches*:
/// never. *Errors*: what `done` throws.
template <class Done>
bool poll_until(Done done, deadline until = no_deadline) {
  constexpr std::int64_t longest = 50'000;
  for (std::int64_t pause = 1'000; !done(); pause = std::min(2 * pause, longest)) {
    const std::int64_t left = until == no_deadline ? longest : until - now();
    if (left <= 0)
      return false;
    block_for(std::min(pause, left));
  }
  return true;
}

} // namespace weft::door
