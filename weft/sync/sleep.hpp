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

} // namespace weft::sync

namespace weft::this_thread {

/// Sleeps for so long, or until a stop is requested; true if it slept to the end. Other threads use the
/// worker meanwhile. Resolution: the kernel's timers when the worker is idle, its next look around (every 251
/// decisions) when it is busy. A length of 0 or less returns at once. *Contexts*: thread, foreign kernel
/// thread. *Switches*: may. *Errors*: std::system_error (operation_not_permitted from a tasklet; no timer
/// could be had). A request to cancel the thread does not end the sleep.
template <class Rep, class Period>
bool sleep_for(const std::chrono::duration<Rep, Period>& length, const std::stop_token& stop = {}) {
  return sync::sleep_until_deadline(length <= length.zero() ? 0 : sync::deadline_of(length), stop);
}

/// The same, until a point of any clock. A clock that is set while the thread sleeps is not followed.
template <class Clock, class Duration>
bool sleep_until(const std::chrono::time_point<Clock, Duration>& at, const std::stop_token& stop = {}) {
  return sync::sleep_until_deadline(sync::deadline_of(at), stop);
}

} // namespace weft::this_thread
