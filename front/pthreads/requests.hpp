// SPDX-License-Identifier: MIT
// What others ask of a thread: to be cancelled, to handle a signal. It acts on that in the waits of this
// library that are cancellation points by POSIX, and where it asks itself.
#pragma once

#include "front/pthreads/thread.hpp"

#include <csignal>
#include <cstdint>

namespace weft::pthreads {

/// In a set of signals as the kernel has it.
[[nodiscard]] constexpr std::uint64_t bit_of(int number) noexcept {
  return std::uint64_t{1} << (number - 1);
}
/// Such a set as libc has them.
[[nodiscard]] inline sigset_t set_of(std::uint64_t bits) noexcept {
  sigset_t set;
  ::sigemptyset(&set);
  set.__val[0] = bits;
  return set;
}

/// Ends the calling thread with that result: cleanup handlers and destructors run.
[[noreturn]] void end_calling_thread(void* result);

/// Once, before the first thread.
void expect_interruptions() noexcept;

/// Asks, and ends the wait that `t` is in. *Contexts*: all but signal handlers. *Switches*: at its end, if a
/// tick came. *Errors*: none.
void ask_to_cancel(thread& t) noexcept;
/// 0, or EAGAIN: too many wait to be handled.
int send_signal(thread& t, const siginfo_t& info) noexcept;
/// The calling thread handles now what it has been sent and does not block; what it handles may end it.
/// *Contexts*: `t` itself, in user mode. *Switches*: may. *Errors*: none.
void handle_sent_signals(thread& t) noexcept;
/// The signals that the calling thread blocks (masks.cpp). *Contexts*: `t` itself. *Switches*: never.
/// *Errors*: none.
void set_mask(thread& t, std::uint64_t bits) noexcept;

/// Somebody has put signals into its queue, or promoted it: it sees to that soon. `t` does not end meanwhile.
/// *Contexts*, *Switches*, *Errors*: as above.
void rouse_for_requests(thread& t) noexcept;
/// If `t` waits in the kernel for that signal, which it has been sent, it gets it there. *Contexts*,
/// *Errors*: as above. *Switches*: at its end, if a tick came.
void wake_waiting(thread& t, int number) noexcept;

/// Whether the program handles it by a function.
[[nodiscard]] inline bool is_function(const struct sigaction& a) noexcept {
  return (a.sa_flags & SA_SIGINFO) != 0 || (a.sa_handler != SIG_DFL && a.sa_handler != SIG_IGN);
}

/// Acts on what was asked of the caller; true if a handler of a signal has run. Does not return if it is
/// cancelled. *Contexts*: thread; kernel threads: libc's own look. *Switches*: may.
bool act_on_requests();

/// The same for those who must do something else before they end: false where the caller is cancelled, and
/// would end in act_on_requests().
[[nodiscard]] bool act_on_signals();
[[nodiscard]] bool is_asked_to_end() noexcept;

/// futex_wait() in a cancellation point; ECANCELED: the caller is to act_on_requests(), when it holds what it
/// must hold then.
int wait_unless_asked(const futex_word& word, std::uint32_t expected, door::futex_wait_options how) noexcept;

/// futex_wait() in what is no cancellation point: handlers run meanwhile, and it returns as without cause
/// then. Where the caller may be cancelled at any moment it is, and the frames of this library are left as
/// they are. *Contexts*, *Switches*: as futex_wait().
int wait_and_handle(const futex_word& word, std::uint32_t expected, door::futex_wait_options how) noexcept;

/// The caller has waited, has got what it waited for, and goes on: what came too late to end the wait is done
/// now. (Who was interrupted while it waited has left it to the wait.) *Contexts*, *Switches*: as above.
void act_after_wait() noexcept;

} // namespace weft::pthreads
