// SPDX-License-Identifier: MIT
// Signals for the process. The kernel threads of the runtime have them blocked; a kernel thread of the
// program's that has not handles them there (main first, as the kernel has it), and for threads of ours a
// kernel thread of this library's takes them from the kernel.
#pragma once

#include "front/pthreads/thread.hpp"

#include <csignal>
#include <cstdint>

namespace weft::pthreads {

/// The signals of the process that threads of ours get so. Not those of faults, which are for who makes them,
/// nor those of profilers, which are for who computes; and not ticks.
[[nodiscard]] std::uint64_t handed_signals() noexcept;

/// That of ticks, as a set; none, before there are workers.
[[nodiscard]] std::uint64_t signal_of_ticks_bit() noexcept;
/// Which they are, before there are workers. *Errors*: as of door::signal_of_ticks().
void settle_handed_signals();

/// In scope: the calling kernel thread has those blocked. Around what makes kernel threads of the runtime,
/// which keep the mask that they begin with. *Contexts*: all but signal handlers. *Switches*: never, and its
/// scope must not. *Errors*: none.
class [[nodiscard]] handed_signals_blocked {
 public:
  handed_signals_blocked() noexcept;
  ~handed_signals_blocked();
  handed_signals_blocked(const handed_signals_blocked&) = delete;
  handed_signals_blocked& operator=(const handed_signals_blocked&) = delete;

 private:
  sigset_t before_;
};

/// From now on threads of ours get them. Once, when there are workers. *Contexts*: as above. *Switches*:
/// never. *Errors*: none; without it only kernel threads of the program's handle them.
void hand_signals_over() noexcept;
/// In the child of fork().
void forget_handing_over() noexcept;

/// It can be given signals of the process from now on, and until unlist(). Who has pinned it before that is
/// awaited by stop_taking_signals(), which comes next.
/// *Contexts*: `t` itself; in the child of fork() too. *Switches*: at its end, if a tick came. *Errors*:
/// none.
void list(thread& t) noexcept;
void unlist(thread& t) noexcept;

/// The calling thread has a new mask. *Contexts*: all. *Switches*: never. *Errors*: none.
void note_mask(std::uint64_t before, std::uint64_t now) noexcept;

/// The caller has sent one to the process: who has it open has got it when this returns, as if the kernel had
/// given it to it. *Contexts*: a thread of ours. *Switches*: at its end, if a tick came. *Errors*: none.
void hand_over_here() noexcept;

/// Takes one of `wanted` that waits for the process, into the caller's own queue; false: there is none.
/// *Contexts*: a thread of ours. *Switches*: at its end, if a tick came. *Errors*: none.
bool take_from_process(std::uint64_t wanted) noexcept;

} // namespace weft::pthreads
