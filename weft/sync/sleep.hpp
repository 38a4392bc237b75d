// SPDX-License-Identifier: MIT
// Sleeping: a wait that nobody ends but the clock or a stop request.
#pragma once

#include "weft/base/export.hpp"
#include "weft/sync/waiter.hpp"

#include <chrono>
#include <stop_token>

namespace weft::sync {

/// True: the time has passed. False: a stop was requested before.
WEFT_API bool sleep_until_deadline(sched::deadline until, const std::stop_token& stop);

/// Until a point of any clock.
template <class Clock, class Duration>
bool sleep_until_time(const std::chrono::time_point<Clock, Duration>& at, const std::stop_token& stop) {
  bool slept = false;
  wait_by_clock(at, stop, [&](sched::deadline until) {
    slept = sleep_until_deadline(until, stop);
    return !slept; // stopped: it is over
  });
  return slept;
}

} // namespace weft::sync

namespace weft::this_thread {

/// Sleeps for so long, or until a stop is requested; true if it slept to the end. Other threads use the
/// worker meanwhile. Resolution: the kernel's timers when the worker is idle, its next look around (every 251
/// decisions) when it is busy. A length of 0 or less, or a time that has passed, lets others run once, as
/// yield() does. *Contexts*: thread, foreign kernel thread; a tasklet for no time. *Switches*: may. *Errors*:
/// std::system_error (operation_not_permitted from a tasklet; no timer could be had). A request to cancel the
/// thread does not end the sleep.
template <class Rep, class Period>
bool sleep_for(const std::chrono::duration<Rep, Period>& length, const std::stop_token& stop = {}) {
  return sync::sleep_until_deadline(length <= length.zero() ? 0 : sync::deadline_of(length), stop);
}

/// The same, until a point of any clock; one of the user's own is followed. If system_clock is set while the
/// thread sleeps, that is not.
template <class Clock, class Duration>
bool sleep_until(const std::chrono::time_point<Clock, Duration>& at, const std::stop_token& stop = {}) {
  return sync::sleep_until_time(at, stop);
}

} // namespace weft::this_thread
