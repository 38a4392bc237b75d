// SPDX-License-Identifier: MIT
// A mutex in four bytes that start as zeros, and what a recursive one needs besides. Whoever releases it does
// not touch it afterwards: the next owner may end its memory at once. Those who wait stand in one table for
// the process, which finds them by the address of the word (weft/sync/README.md), whichever front they came
// by.
//
// The ways that decide what it costs are inlined; take() and release() call nothing while nobody waits, and
// need no runtime_section.
#pragma once

#include "weft/arch/arch.hpp"
#include "weft/base/export.hpp"
#include "weft/door/caller.hpp"
#include "weft/door/deadline.hpp"
#include "weft/sync/owner_record.hpp"
#include "weft/sync/wait_table.hpp"

#include <cstdint>

namespace weft::door {

class lock_word {
 public:
  /// What take() returns to whom the mutex belongs then.
  static constexpr std::uint32_t free = sync::word_free;
  /// `displaced == free`, in the two instructions that are needed.
  [[gnu::always_inline]] static bool is_free(std::uint32_t displaced) noexcept {
    return arch::is_zero(displaced);
  }

  /// What the word read before: `free` if the mutex is the caller's now; else lock_taken() is to follow.
  /// *Contexts*: all but signal handlers. *Switches*: never. *Errors*: none.
  [[gnu::always_inline]] std::uint32_t take() noexcept {
    return sync::exchange_word(word_, arch::stack_mark());
  }

  /// Gives the mutex back. Returns 0, what interfaces of C call success, so that the slow ways can be jumped
  /// to and need no frame. GONE: *this. *Contexts*: all but signal handlers. *Switches*: never. *Errors*:
  /// none.
  [[gnu::always_inline]] int release() noexcept {
    bool look = false;
    if (!sync::slot_of(&word_).state.release_quietly(word_, look)) [[unlikely]]
      return release_contended(word_);
    // GONE: *this. Only its address is used below.
    if (look) [[unlikely]]
      return look_again(&word_);
    return 0;
  }

  /// Waits for the mutex, after a take() in vain whose result `displaced` is, or without one. `announce()` is
  /// called before the caller leaves its stack; what it returns lives until it is back. Callers that may not
  /// wait block their kernel thread. False: the time has passed. *Contexts*: in the runtime; all but signal
  /// handlers. *Switches*: may. *Errors*: std::bad_alloc, std::system_error: no timer could be had; not for
  /// no_deadline.
  template <class Announce>
  bool lock(deadline until, std::uint32_t displaced, Announce announce) {
    // relaxed look: a taken word is not written to
    if (!sync::is_offered(displaced) && word_.load_relaxed() == free &&
        sync::take_word(word_, arch::stack_mark()))
      return true;
    if (passed(until))
      return try_lock();
    if (!may_wait())
      return sync::is_offered(displaced) || block(until);
    [[maybe_unused]] const auto why = announce();
    return sync::lock_slowly(word_, displaced, until, {}); // SWITCH: may resume on another worker
  }

  /// Takes what is offered to a waiter, too: that one may be ready on this very worker. *Contexts*: all but
  /// signal handlers. *Switches*: never. *Errors*: none.
  bool try_lock() noexcept { return sync::try_word(word_, arch::stack_mark()); }

  /// Takes the mutex without leaving the CPU to another thread. *Contexts*, *Switches*, *Errors*: as
  /// try_lock().
  WEFT_API void spin() noexcept;

 private:
  WEFT_API static int release_contended(sync::mutex_word& word) noexcept;
  WEFT_API static int look_again(const sync::mutex_word* key) noexcept;
  WEFT_API bool block(deadline until) noexcept;

  sync::mutex_word word_;
};

/// Who holds a recursive mutex, and how often. Valid as zeros, for a mutex that nobody holds.
/// *Ownership*: the holder of the mutex. Others read the owner: RACY, they find anything but themselves.
/// *Contexts*: in the runtime; all but signal handlers. *Switches*: never, unless `take` does. *Errors*:
/// none, unless `take` throws.
class recursion {
 public:
  /// Once more, if the mutex is the caller's; else `take()` takes it, or says false.
  template <class Take>
  bool enter(Take take) {
    const void* const self = sync::caller_identity();
    if (owner().load_relaxed() == self) { // relaxed, both: only its own mark matters to a caller
      ++depth_;
      return true;
    }
    if (!take())
      return false;
    owner().store_relaxed(self);
    depth_ = 1;
    return true;
  }
  /// Once less; true: that was the last, and the mutex is to be released.
  bool leave() noexcept {
    if (--depth_ != 0)
      return false;
    owner().store_relaxed(nullptr); // relaxed: as in enter()
    return true;
  }

  /// For a wait that gives the mutex back however often it was entered: the next leave() is the last.
  [[nodiscard]] std::uint32_t set_aside() noexcept {
    const std::uint32_t before = depth_;
    depth_ = 1;
    return before;
  }
  /// After the enter() that follows the wait.
  void restore(std::uint32_t depth) noexcept { depth_ = depth; }

 private:
  using identity = base::atomic<const void*>;
  // Aligned at 8 bytes, wherever the memory is.
  identity& owner() noexcept {
    const auto first = reinterpret_cast<std::uintptr_t>(owner_);
    return *reinterpret_cast<identity*>((first + alignof(identity) - 1) & ~(alignof(identity) - 1));
  }

  std::uint32_t depth_ = 0;
  std::uint32_t owner_[3] = {};
};

} // namespace weft::door
