// SPDX-License-Identifier: MIT
// Ids as gettid() gives them. A thread of ours has one for life, above all that the kernel gives out
// (PID_MAX_LIMIT): it goes from one kernel thread to another. Functions that take ids know it; the kernel
// does not.
#pragma once

#include "front/pthreads/thread.hpp"

#include <sys/types.h>

namespace weft::pthreads {

/// Of the caller, a thread of ours. *Contexts*: thread, signal handlers too. *Switches*: at its end, if a
/// tick came. *Errors*: none.
[[nodiscard]] pid_t own_id() noexcept;

/// Whether such an id names a thread of ours, or could once.
[[nodiscard]] bool is_our_id(pid_t id) noexcept;

/// The thread of that id; null: there is none any more, or it has never asked for its id. *Contexts*: all but
/// signal handlers. *Switches*: at its end, if a tick came. *Errors*: none.
[[nodiscard]] thread* thread_of_id(pid_t id) noexcept;

/// Before it is freed. *Contexts*: in the runtime. *Switches*: never.
void forget_id(thread& t) noexcept;

/// In the child of fork().
void forget_ids_of_others() noexcept;

/// tgkill(2) for such an id: 0 or -1 and errno.
int kill_by_id(pid_t id, int number) noexcept;

} // namespace weft::pthreads
