// SPDX-License-Identifier: MIT
// Waiting for a state that stands under one spin lock: what primitives are made of that no header of weft/
// has. A waiter stands in the queue before the lock is given back, so it misses nothing; one that has been
// notified need not touch the primitive again, and may free it.
#pragma once

#include "weft/door/atomic.hpp"
#include "weft/door/deadline.hpp"
#include "weft/sync/wait_queue.hpp"
#include "weft/unit/wait_record.hpp"

namespace weft::door {

/// What a wait is for, as debuggers and `weft ps` show it: {kind, 0, the object}.
using wait_reason = unit::wait_record;
using wait_kind = unit::wait_kind;
using unit::message_wait; // the object of wait_kind::messages

/// Those who wait, in order of arrival: notify_one(), notify_all() and empty() under the primitive's lock,
/// drain(lock) in its destructor. All zeros is no empty one: zeroed<wait_queue>. *Contexts*: all but signal
/// handlers. *Switches*: never. *Errors*: none.
using wait_queue = sync::wait_queue;

/// Waits in the queue; false: the time has passed, at once if it had before. `held` is given back meanwhile.
/// It is locked again unless the caller was notified, also when an exception leaves; nor is it if the
/// primitive has been destroyed since the wait ended. *Contexts*: who may_wait(). *Switches*: may. *Errors*:
/// std::bad_alloc, std::system_error: no timer could be had; not for no_deadline.
inline bool wait_in(wait_queue& queue, held_lock& held, deadline until, const wait_reason& why) {
  if (passed(until))
    return false;
  sync::waiter w(why);
  return queue.wait(held, w, until, {}) ==
         sync::wait_result::notified; // SWITCH: may resume on another worker
}

} // namespace weft::door
