// SPDX-License-Identifier: MIT
// The words that kernel threads and threads share, and the lock for a few steps on them. As everywhere in
// Weft, the memory order of an operation is part of its name, and model tests can stand in for the hardware.
#pragma once

#include "weft/arch/arch.hpp"
#include "weft/base/atomic.hpp"
#include "weft/base/fence.hpp"
#include "weft/base/spin_lock.hpp"

#include <mutex>

namespace weft::door {

/// All zeros is a T of 0. *Contexts*: any, signal handlers too. *Switches*: never. *Errors*: none.
template <class T>
using atomic = base::atomic<T>;

/// For sections of some ten instructions that call nothing of the program's and do not wait: who cannot have
/// it keeps the CPU. All zeros is a free one. Its holder is in the runtime, so that it is not preempted.
/// *Contexts*: all but signal handlers. *Switches*: never. *Errors*: none.
using spin_lock = base::spin_lock;
using held_lock = std::unique_lock<spin_lock>;

/// For loops that look again and again: tells the CPU so. *Contexts*: any. *Switches*: never. *Errors*: none.
inline void relax() noexcept {
  arch::relax();
}
/// In a loop that waits for a few steps of another kernel thread's: after some looks that one may need this
/// CPU. `looks`: the loop's, 0 at first. *Contexts*: all but signal handlers. *Switches*: never. *Errors*:
/// none.
inline void pause_for_another(unsigned& looks) noexcept {
  if (++looks % 64 != 0) {
    arch::relax();
  } else {
    base::backend::yield_kernel_thread();
  }
}

/// A fence between what the caller did and what it looks at next, in two unequal halves: the light one costs
/// nothing, the heavy one microseconds, and runs a full fence in all kernel threads of the process.
/// *Contexts*: all but signal handlers. *Switches*: never. *Errors*: none.
inline void light_fence() noexcept {
  base::light_fence();
}
inline void heavy_fence() noexcept {
  base::heavy_fence();
}
/// The symmetric one, for both sides. *Contexts*: any. *Switches*: never. *Errors*: none.
inline void full_fence() noexcept {
  base::full_fence();
}

} // namespace weft::door
