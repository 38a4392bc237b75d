// SPDX-License-Identifier: MIT
// System calls that our signal cuts short: some return EINTR (poll, sleeps, waits with a time limit), some a
// part of what was asked (write, send, a recv of all). The program has asked for no signal and must not see
// that, so the handler goes on with the call where it stands, and puts the whole result in its place.
//
// A signal of the program's own ends the call that goes on as it would have ended the first.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include <ucontext.h>

#include "weft/arch/user_mode.hpp"

namespace weft::sched {
class user_mode;
}

namespace weft::preempt {

// A call and its first arguments, as the monitor reads them.
using kernel_call = std::array<long, 5>;

// Whether the handler can go on with such a wait; of calls that move bytes, see cut_transfers.hpp. Contexts:
// all.
[[nodiscard]] bool can_go_on(const kernel_call& made) noexcept;

// What the monitor saw of a worker's thread just before it signalled.
struct told_call {
  bool given = false;         // false: calls with a time limit of their own shall end
  long number = 0, first = 0; // the call that the thread was in; 0: none, it computed
  std::int64_t since = 0;     // when it was first seen there, later than it began
  std::int64_t cpu_ns = 0;    // of its kernel thread, then
};

// Of a tick that nobody told of. It was sent while its thread computed, or shortly before that: a call that
// it ends has only just begun, so its time limit begins again.
inline constexpr told_call nothing_told{.given = true};

// A call that a signal has ended too early, with the number that it has, and when it began at the latest; 0:
// nobody knows, and it has no limit for which that matters.
struct cut_call {
  arch::returned_call call;
  std::int64_t since;
};

// Nothing: none was cut short, or it cannot be gone on with. SIGNAL-SAFE.
std::optional<cut_call> cut_short(const ucontext_t& interrupted, const told_call& told) noexcept;

// To be called at each tick on its kernel thread: then it can be known whether it was a tick that ended a
// call. SIGNAL-SAFE.
void note_tick() noexcept;

// Made before a call: whether a tick came since, on the thread's kernel thread or another one, and nobody has
// interrupted the thread so that its calls end. SIGNAL-SAFE.
class tick_mark {
 public:
  tick_mark() noexcept;
  [[nodiscard]] bool ticked() const noexcept;

 private:
  const unsigned* at_;
  unsigned count_;
  const sched::user_mode* thread_ = nullptr; // the caller, if it is one
  std::uint32_t calls_ended_ = 0;
};

// Goes on with it, for as long as it takes, and puts the result where the interrupted code finds it. SIGNAL-
// SAFE. Contexts: the handler, in user mode or without a worker, or one that shall wait with its worker.
void go_on(const cut_call& cut, ucontext_t& interrupted) noexcept;

} // namespace weft::preempt
