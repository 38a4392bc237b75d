// SPDX-License-Identifier: MIT
// libc's own cancellation of a thread of ours, where it waits in the kernel in a function of libc's that this
// library knows nothing of: fgets(), system(), open(). libc keeps in the block of each thread, in one word,
// whether it may be cancelled, has been, and whether it is in such a call. This library keeps that word as it
// is meant to be; libc then looks at it by itself when it begins a call.
#pragma once

#include "front/pthreads/thread.hpp"

namespace weft::pthreads {

/// In scope: libc does not cancel the caller, whatever of it is called. For functions that see to that
/// themselves. May be nested. *Contexts*: all. *Switches*: never. *Errors*: none.
class [[nodiscard]] not_by_libc {
 public:
  not_by_libc() noexcept;
  ~not_by_libc();
  not_by_libc(const not_by_libc&) = delete;
  not_by_libc& operator=(const not_by_libc&) = delete;

 private:
  futex_word* word_ = nullptr; // null: nothing was changed
};

/// The word of the calling thread; null: it was not found. *Contexts*: in user mode. *Switches*: never.
/// *Errors*: none.
[[nodiscard]] futex_word* libcs_word_here() noexcept;
/// The thread begins, and ends, its life on its block. The second may be called again. *Contexts*: the thread
/// itself, in the runtime or not. *Switches*: at the end, if a tick came. *Errors*: none.
void begin_on_libcs_block(thread& self, futex_word* word) noexcept;
void end_on_libcs_block(thread& self) noexcept;

/// Tells libc that the thread has been cancelled. *Contexts*: all but signal handlers. *Switches*: at the
/// end, if a tick came. *Errors*: none.
void tell_libc_of_cancellation(thread& t) noexcept;

/// Of the caller, whose handler is on its stack: whether it is in a call in which libc lets it be cancelled;
/// whether libc ends it. *Contexts*: all. *Switches*: never. *Errors*: none.
[[nodiscard]] bool libc_lets_cancel(const thread& self) noexcept;
[[nodiscard]] bool libc_ends(const thread& self) noexcept;
/// Of a kernel thread, the caller's if none is said: whether it would end in pthread_testcancel().
/// *Contexts*: all; it has not ended. *Switches*: never. *Errors*: none.
[[nodiscard]] bool libc_would_cancel(pthread_t handle) noexcept;
[[nodiscard]] bool libc_would_cancel() noexcept;

/// When the library is loaded, with what dlsym() knows libc by: looks for the word. Where it is not found,
/// libc cancels nobody, and a call that a cancellation meets returns EINTR.
void find_libcs_word(void* of_libc) noexcept;

} // namespace weft::pthreads
