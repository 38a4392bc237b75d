// SPDX-License-Identifier: MIT
// What is known of the program's descriptors, to spare system calls.
//
// A number that a call of this library has given out, and that only calls of this library can have closed, is
// *watched*: weft::io then need not register it anew each time somebody waits for it (io::adopt()), and what
// was asked of it once stays true. What else closes a number has to be seen by this library, or may only
// close numbers that are not watched: so a FILE's is not, which libc closes by itself.
#pragma once

#include <cstdint>

namespace weft::pthreads {

/// Of what the number stood for the last time, unless it is watched: a wrong guess costs a system call, or a
/// wait in the kernel.
enum class guess : std::uint8_t { socket, other, file };

/// *Contexts* of all: all, signal handlers too. *Switches*: never, but watch() and watch_all(): at their end,
/// if a tick came. *Errors*: none.
[[nodiscard]] guess guess_of(int descriptor) noexcept;
void note(int descriptor, guess g) noexcept;

/// A call of this library has returned it: a new number, or -1. Returns it.
int watch(int descriptor) noexcept;
/// The same of two, if the call has `result` 0, which is returned.
int watch_both(int result, const int* descriptors) noexcept;
[[nodiscard]] bool is_watched(int descriptor) noexcept;
/// It is about to be closed, or may be closed by others from now on.
void watch_no_more(int descriptor) noexcept;
void watch_no_more(unsigned first, unsigned last) noexcept;

/// It is watched, and was found to have neither of a socket's time limits; since then no such limit has been
/// set of any socket.
[[nodiscard]] bool has_no_limits(int descriptor) noexcept;
/// Who finds that takes the turn before it asks: a limit that is set meanwhile begins another.
[[nodiscard]] std::uint64_t turn_of_limits() noexcept;
void note_no_limits(int descriptor, std::uint64_t turn) noexcept; // of one that is watched

} // namespace weft::pthreads
