// SPDX-License-Identifier: MIT
// What handlers of signals are told: who has sent it, and with which value. That a signal is there at all is
// a bit of the thread's (`signals_sent`); one that comes with no more than that has no place in the queue.
#pragma once

#include "front/pthreads/thread.hpp"

#include <csignal>

namespace weft::pthreads {

/// *Ownership*: the queue of a thread, until it is taken.
class queued_signal : public door::object<kind> {
 public:
  explicit queued_signal(const siginfo_t& told) noexcept : door::object<kind>(kind::signal), info(told) {}
  siginfo_t info;
  bool for_process = false; // another thread may have it, if this one ends first
  queued_signal* next = nullptr;
};

/// What is told of one that a thread has sent to another: `code` says how.
[[nodiscard]] siginfo_t info_of_own(int number, int code) noexcept;

/// Puts it at the end of the queue, and sets its bit. 0, or EAGAIN: there is no memory, or too many wait; for
/// one of the process also ESRCH: the thread ends, and takes none. *Contexts*: all but signal handlers.
/// *Switches*: at its end, if a tick came. *Errors*: as said.
int queue_signal(thread& t, const siginfo_t& info, bool for_process) noexcept;

/// It was the first and shall be it again: nobody has handled it. *Contexts*, *Switches*: as queue_signal().
/// *Errors*: none; where there is no memory its handler is told nothing of it.
void put_back(thread& t, const siginfo_t& info) noexcept;

/// Takes one of `wanted` from what it has been sent, the least number, and of that the first. 0: there is
/// none; or (S3) somebody has claimed the caller's sigwait() for an earlier one. Of one that is not queued it
/// is told what there is to tell of pthread_kill(). *Contexts*: `t` itself. *Switches*: at its end, if a tick
/// came. *Errors*: none.
[[nodiscard]] int take_queued(thread& t, std::uint64_t wanted, siginfo_t& info) noexcept;

/// If `t` waits in the kernel for that one, and has been sent it, the first of that number is claimed for it:
/// the kernel thread on which it waits, where the caller calls it now. 0: it does not wait, or has it.
/// *Contexts*: all but signal handlers. *Switches*: at its end, if a tick came. *Errors*: none.
[[nodiscard]] int claim_wait_for(thread& t, int number) noexcept;
/// Its wait was claimed: the number of what was claimed, and what is told of it; or, where it has another one
/// (`result`) to return, that is for the next wait. *Contexts*: `t` itself. *Switches*, *Errors*: as above.
int end_claim(thread& t, bool takes_it, siginfo_t& info, int result) noexcept;
/// The call: a signal for that kernel thread alone, which says no more than that it is one. *Contexts*: all.
/// *Switches*: never. *Errors*: none.
void call_waiting(int kernel_thread, int number) noexcept;
[[nodiscard]] bool calls_waiting(const siginfo_t& info) noexcept;

/// It ends: it takes none of the process' any more, nobody has it pinned, and nobody will. False: there are
/// some that it has not handled. *Contexts*: `t` itself, in the runtime. *Switches*: never. *Errors*: none.
[[nodiscard]] bool stop_taking_signals(thread& t) noexcept;

/// Until unpin() `t` does not end. False: it takes no signals any more, and may end at any moment.
/// *Contexts*: all but signal handlers; it is not freed meanwhile. *Switches*: at its end, if a tick came.
/// *Errors*: none.
[[nodiscard]] bool pin(thread& t) noexcept;
/// GONE: t. *Contexts*: all. *Switches*: never. *Errors*: none.
void unpin(thread& t) noexcept;
/// These are sent to the process again. *Contexts*: `t` itself, in user mode. *Switches*: at its end, if a
/// tick came. *Errors*: none.
void give_signals_back(thread& t) noexcept;

/// Back to the process. *Contexts*: all. *Switches*: never. *Errors*: none.
void send_to_process(const siginfo_t& info) noexcept;

/// Frees what is queued. *Contexts*: in the runtime; nobody else has `t`. *Switches*: never. *Errors*: none.
void drop_queue(thread& t) noexcept;

} // namespace weft::pthreads
