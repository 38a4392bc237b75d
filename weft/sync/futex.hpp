// SPDX-License-Identifier: MIT
// The futex of user level: threads wait for a word of the program's to change, in a table that finds them by
// its address, and suspend themselves alone. Kernel threads that are no workers wait at the same words, in
// the kernel. What objects of foreign interfaces are made of, in the bytes that the program gives. The
// table, its protocol and why it is another one than that of the mutexes: weft/sync/README.md.
#pragma once

#include <cstdint>
#include <ctime>

#include "weft/base/export.hpp"
#include "weft/sync/futex_bucket.hpp"
#include "weft/unit/wait_record.hpp"

namespace weft::sync {

inline constexpr std::uint32_t any_futex_bit = ~std::uint32_t{0};
inline constexpr unsigned all_futex_waiters = ~0U;

struct futex_wait_options {
  const std::timespec* until = nullptr; // null: no limit
  clockid_t clock = CLOCK_MONOTONIC;    // of `until`: this or CLOCK_REALTIME
  std::uint32_t bits = any_futex_bit;   // woken by a wake for any of them
  // A thread does not begin to wait if this word is not 0: who sets it and then wakes all at the address ends
  // the wait. Kernel threads do not look at it.
  const futex_word* call_off = nullptr;
  unit::wait_kind kind = unit::wait_kind::unknown; // for debuggers
};

/// Waits while `word` reads `expected`. May return without cause, as the kernel's; callers look again. 0:
/// woken; EAGAIN: the word read otherwise; ETIMEDOUT; ECANCELED: called off; EINTR: a signal, for kernel
/// threads alone; EINVAL: no bits, or no moment; EPERM: a tasklet, or a loop; ENOMEM: no timer could be had.
/// A limit on CLOCK_REALTIME follows that clock where it is set back; a thread learns late where it is set
/// forward. *Contexts*: thread, foreign kernel thread. *Switches*: may.
WEFT_API int futex_wait(const futex_word& word, std::uint32_t expected,
                        const futex_wait_options& how = {}) noexcept;

/// Wakes up to `most` that wait at the address for any of `bits`, threads in order of arrival; returns how
/// many. The word was changed before; it may be gone. *Contexts*: all but signal handlers. *Switches*: at its
/// end, if a tick came. *Errors*: none.
WEFT_API unsigned futex_wake(const void* address, unsigned most, std::uint32_t bits = any_futex_bit) noexcept;

/// The same where the caller may be in a signal's handler: if what that has interrupted may hold locks of the
/// runtime, another kernel thread wakes all threads at the address, a little later; they are not in the
/// result. SIGNAL-SAFE, once prepare_futex_wakes_in_handlers() has been called. *Contexts*: all. *Switches*:
/// never. *Errors*: none.
WEFT_API unsigned futex_wake_anywhere(const void* address, unsigned most) noexcept;

/// Wakes up to `most_woken` at the word, and lets up to `most_moved` of the others wait at `to` in their
/// turn; kernel threads are woken, not moved. `expected`: unless the word reads so, nothing is done, and
/// `error` is EAGAIN. *Contexts*, *Switches*: as futex_wake().
struct futex_moved {
  int error;
  unsigned woken, requeued;
};
WEFT_API futex_moved futex_requeue(const futex_word& word, const std::uint32_t* expected, unsigned most_woken,
                                   const void* to, unsigned most_moved) noexcept;

/// Starts the kernel thread that pays what handlers owe; nothing if it runs. *Contexts*: thread, foreign
/// kernel thread. *Switches*: never. *Errors*: those of pthread_create(), and there is none then.
WEFT_API int prepare_futex_wakes_in_handlers() noexcept;

/// For functions in which a kernel thread that is no worker may hold locks of the runtime: a handler that
/// interrupts it there owes its wake-ups (futex_wake_anywhere()). May be nested. *Contexts*: all. *Switches*:
/// the scope may. *Errors*: none.
class [[nodiscard]] foreign_section {
 public:
  WEFT_API foreign_section() noexcept;
  WEFT_API ~foreign_section();
  foreign_section(const foreign_section&) = delete;
  foreign_section& operator=(const foreign_section&) = delete;

 private:
  unsigned* depth_; // of the kernel thread; null: it is a worker
};

/// For the runtime, in the child of fork(): nobody waits there.
WEFT_API void forget_futex_waiters_after_fork() noexcept;

/// Checks every bucket; the second, that nobody waits in any. For tests.
[[nodiscard]] WEFT_API bool futex_table_valid() noexcept;
[[nodiscard]] WEFT_API bool futex_table_empty() noexcept;

} // namespace weft::sync
