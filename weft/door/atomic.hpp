// SPDX-License-Identifier: MIT
// The words that kernel threads and threads share, and the lock for a few steps on them. As everywhere in
// Weft, the memory order of an operation is part of its name, and model tests can stand in for the hardware.
#pragma once

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

/// A fence between what the caller did and what it looks at next, in two unequal halves: the light one costs
/// nothing, the heavy one microseconds, and runs a full fence in all kernel threads of the process.
/// *Contexts*: all but signal handlers. *Switches*: never. *Errors*: none.
inline void light_fence() noexcept {
  base::light_fence();
}
inline void heavy_fence() noexcept {
  base::heavy_fence();
}

} // namespace weft::door
