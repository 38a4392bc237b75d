// SPDX-License-Identifier: MIT
// The ends of timed waits. Whatever an interface counts in, a wait ends at a moment of one clock: nanoseconds
// of CLOCK_MONOTONIC, or of a simulation's own. All of the conversions take any value that the type can hold:
// a moment that is past gives one that has passed, one that is too far away the last there is.
#pragma once

#include "weft/events/timer_queue.hpp"
#include "weft/os/clock.hpp"

#include <cstdint>
#include <ctime>

namespace weft::door {

using deadline = std::int64_t;
inline constexpr deadline no_deadline = sched::no_deadline; // a wait that no clock ends

// What the kernel takes, and nanoseconds (weft/os/timespec.hpp).
using os::is_valid;
using os::ns_a_second;
using os::ns_of;
using os::timespec_of;

/// *Contexts*: all, signal handlers too. *Switches*: never. *Errors*: none.
[[nodiscard]] inline deadline now() noexcept {
  return os::now_ns();
}

/// Whether a wait until then is over before it begins. Such a call tries once, without leaving its stack:
/// workers look at their timers only from time to time. *Contexts*, *Switches*, *Errors*: as now().
[[nodiscard]] inline bool passed(deadline until) noexcept {
  return until != no_deadline && until <= now();
}

/// For waits up to a moment of `clock`. Who sets that clock later does not move the end of the wait.
/// *Contexts*: all, signal handlers too. *Switches*: never. *Errors*: none.
[[nodiscard]] WEFT_API deadline deadline_of(const std::timespec& moment,
                                            clockid_t clock = CLOCK_REALTIME) noexcept;

/// For waits of so many seconds from now; what is not a number is 0. *Contexts*, *Switches*, *Errors*: as
/// above.
[[nodiscard]] WEFT_API deadline deadline_in(double seconds) noexcept;

/// Blocks the kernel thread, not the caller alone, for about so many nanoseconds; a signal may end it early.
/// *Contexts*: all. *Switches*: never. *Errors*: none.
inline void block_for(std::int64_t nanoseconds) noexcept {
  os::sleep_ns(nanoseconds);
}

/// Suspends the caller until then. *Contexts*: who may_wait(). *Switches*: may. *Errors*: std::bad_alloc,
/// std::system_error: no timer could be had.
WEFT_API void sleep_until(deadline until);

} // namespace weft::door
