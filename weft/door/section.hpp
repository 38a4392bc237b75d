// SPDX-License-Identifier: MIT
// The border between the program and the runtime. A thread that may be preempted is preempted in the
// program's code alone, and there knows nothing of its worker (docs/design/preemption.md). So every function
// that a front exports enters the runtime, and what calls back into the program leaves it for as long. For
// threads that are not preemptible, and callers that are no threads, that is four instructions.
//
// A fast path that reads the worker once, holds no lock and gives up for its slow twin where it finds nothing
// to be fast with needs no section: on a preemptible thread it finds nothing.
#pragma once

#include "weft/carrier/user_mode.hpp"

namespace weft::door {

/// In scope: the calling thread is in the runtime. Stands first in each exported function that uses the
/// worker, the runtime's locks or the door, but for the fast paths that say that they need none. May be
/// nested. *Contexts*: all but signal handlers. *Switches*: at its end, if a tick came meanwhile: the result
/// of a function must not depend on the worker it is read on. *Errors*: none.
using runtime_section = sched::runtime_section;

/// The opposite, around a callback of the program's: a preemptible thread may be preempted there again, and
/// may wait with locks of libc's held. *Contexts*: in the runtime, no lock of the runtime's held. *Switches*:
/// at its beginning, if a tick came, and in the callback: who calls looks for its worker again afterwards.
/// *Errors*: none.
using user_code_section = sched::user_code_section;

/// Whether a runtime_section would do nothing. *Contexts*: all but signal handlers. *Switches*: never.
/// *Errors*: none.
[[nodiscard]] inline bool needs_no_section() noexcept {
  return !sched::here().attention.any_relaxed(sched::user_code | sched::simulated);
}

/// Whether the caller is the program's code on a thread or on a kernel thread that is no worker. False in the
/// runtime, and so in a handler of a signal that has interrupted it. *Contexts*: all, signal handlers too.
/// *Switches*: never. *Errors*: none.
[[nodiscard]] inline bool is_in_program() noexcept {
  return sched::here().attention.any_relaxed(sched::not_a_worker | sched::user_code);
}

/// For what does not return, as the end of the calling thread: into the runtime for good. *Contexts*: all but
/// signal handlers. *Switches*: never. *Errors*: none.
inline void enter_runtime_for_good() noexcept {
  sched::enter_runtime_for_good();
}

} // namespace weft::door
