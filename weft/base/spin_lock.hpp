// SPDX-License-Identifier: MIT
// A test-and-test-and-set lock for sections of a few instructions between kernel threads. Where the holder
// has lost its CPU, waiters give theirs away instead of burning it. Meets Lockable; TSan sees its
// acquire/release pairs.
#pragma once

#include "weft/base/atomic.hpp"

#include <cstdint>

namespace weft::base {

/// Mutual exclusion by spinning.
/// *Ownership*: whoever turned `held_` from 0 to 1. *Invariants*: at most one owner. *Ordering*: (SL1) the
/// release in unlock() pairs with the acquire in try_lock(), so a section sees all earlier ones. Never hold
/// it across a switch of stacks, a call of user code or a system call. Source: Rudolph and Segall 1984,
/// test-and-test-and-set.
class spin_lock {
 public:
  constexpr spin_lock() noexcept = default;
  spin_lock(const spin_lock&) = delete;
  spin_lock& operator=(const spin_lock&) = delete;

  /// Takes the lock. *Contexts*: thread, tasklet, foreign kernel thread; not a signal handler (the
  /// interrupted code may hold it). *Switches*: never (may give up the CPU to the kernel). *Errors*: none.
  void lock() noexcept {
    if (!try_lock()) [[unlikely]] {
      lock_slowly();
    }
  }

  /// Takes the lock if that needs no waiting; true if taken. *Contexts*: any. *Switches*: never.
  bool try_lock() noexcept {
    // acquire: sees what earlier owners wrote; pairs with the release in unlock() (SL1)
    return held_.exchange_acquire(1) == 0;
  }

  /// Gives the lock back. *Contexts*: as lock(), by the owner only. *Switches*: never.
  void unlock() noexcept {
    held_.store_release(0); // release: publishes the section; pairs with the acquire in try_lock() (SL1)
  }

 private:
  /// Looks before the kernel is asked for help. Sections are some 10 instructions, so a holder that runs is
  /// done within a few dozen looks; one that does not run needs this CPU.
  static constexpr std::size_t looks_before_yield = backend::scaled(64, 1);

  [[gnu::noinline]] void lock_slowly() noexcept {
    std::size_t looks = 0;
    for (;;) {
      // RACY: relaxed look only decides when to try; try_lock() decides
      if (held_.load_relaxed() == 0 && try_lock()) {
        return;
      }
      if (++looks >= looks_before_yield) {
        backend::yield_kernel_thread();
        looks = 0;
      }
    }
  }

  atomic<std::uint32_t> held_ = 0;
};

} // namespace weft::base
