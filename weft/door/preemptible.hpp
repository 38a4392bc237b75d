// SPDX-License-Identifier: MIT
// Threads of a front that may be preempted (docs/design/preemption.md): made so between new_unit() and
// launch(), and cooperative again before their end.
#pragma once

#include "weft/base/export.hpp"
#include "weft/door/section.hpp"
#include "weft/door/unit.hpp"
#include "weft/preempt/preparation.hpp"
#include "weft/preempt/ticks.hpp"

#include <chrono>
#include <cstddef>

namespace weft::door {

/// `u` may be preempted from its start on; it is not launched yet. `workers`: how many there are that may run
/// such threads at once. Nothing under sanitizers, valgrind and in simulations. *Contexts*: in the runtime;
/// thread, foreign kernel thread. *Switches*: for bound_tls, while its block is made. *Errors*:
/// std::bad_alloc; std::system_error: not_supported where this machine cannot, invalid_argument for a signal
/// that cannot be used, what stands in the way of a kernel thread. Nothing has changed then.
inline void make_preemptible(descriptor& u, preemption kind, std::size_t workers) {
  if (const preempt::preparation made{kind, workers})
    sched::user_mode::attach(u, kind);
}
/// Undoes it, for one that is not launched after all. Nothing for others. *Contexts*: in the runtime.
/// *Switches*: never. *Errors*: none.
inline void make_cooperative_again(descriptor& u) noexcept {
  sched::user_mode::detach(u);
}

/// The calling thread has nothing more to do in user mode: it will end by end_now(). *Contexts*: the thread
/// itself. *Switches*: never. *Errors*: none.
inline void end_preemption(descriptor& self) noexcept {
  enter_runtime_for_good();
  sched::user_mode::detach(self);
}
/// The same for one whose function has returned, and which goes on to tell that it has ended. May yield and
/// migrate meanwhile: its pool must still count it. *Contexts*: the thread itself. *Switches*: bound_tls:
/// yes. *Errors*: none.
inline void prepare_end_of_preemptible(descriptor& self) noexcept {
  enter_runtime_for_good();
  sched::user_mode::prepare_end(self);
}

/// What a thread of the front's calls when it is interrupted: signals for it, for one. Runs in the program's
/// code, wherever that is, as a handler of a signal does; true: a system call that was interrupted returns
/// EINTR. Set once, before the first interrupt().
using interruption = sched::interruption;
inline void set_interruption(interruption heed) noexcept {
  sched::heed_interruption.store(heed, std::memory_order_release);
}
/// Has `u` call that soon, also where it computes or waits in the kernel; a wait in Weft it does not end. `u`
/// is preemptible and does not end meanwhile. *Contexts*: all but signal handlers. *Switches*: at its end, if
/// a tick came. *Errors*: none.
inline void interrupt(descriptor& u) noexcept {
  const runtime_section in;
  if (sched::user_mode* const m = sched::user_mode::of(u))
    m->interrupt();
}

/// Each thread of bound_tls takes a kernel thread for its variables, since this C library is not known well
/// enough to make them; known once there is one. *Contexts*: all but signal handlers. *Switches*: never.
/// *Errors*: none.
[[nodiscard]] WEFT_API bool variables_need_kernel_threads() noexcept;

/// Whether the caller, a preemptible thread, has left its worker to others in a wait in the kernel; it takes
/// one again when it comes into the runtime. *Contexts*: thread. *Switches*: never. *Errors*: none.
[[nodiscard]] inline bool is_without_worker() noexcept {
  sched::worker_face& face = sched::here();
  return face.attention.any_relaxed(sched::user_code) && sched::user_mode::behind(face).is_away();
}

/// How many kinds there are: `preemption` as a number is below it.
inline constexpr unsigned preemption_kinds = sched::preemption_kinds;

/// For how long a preemptible thread may run while others wait; 0: none is preempted. *Contexts*: all but
/// signal handlers. *Switches*: never. *Errors*: std::system_error(invalid_argument): the length is none.
inline void set_preemption_interval(std::chrono::nanoseconds length) {
  preempt::set_interval(length);
}
[[nodiscard]] inline std::chrono::nanoseconds preemption_interval() noexcept {
  return preempt::interval();
}

} // namespace weft::door
