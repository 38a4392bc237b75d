// SPDX-License-Identifier: MIT
// The one seam between Weft and the memory model. This file maps the names onto std::atomic;
// tests/model/seam/weft/base/atomic_backend.hpp, found first by the model tests, maps the same names onto
// the checker, so that the checker runs the very code that ships. Nothing but weft/base includes this file.
#pragma once

#include <atomic>
#include <cstddef>
#include <sched.h>

namespace weft::base::backend {

/// A memory location that several kernel threads may touch at once.
template <class T>
using cell = std::atomic<T>;

/// A location that is not atomic. The production form is the bare type; the checker's form finds data
/// races.
template <class T>
using plain = T;

/// Picks a size: the checker gets the second one, so that wrap-around and growth are reached in a few
/// steps.
constexpr std::size_t scaled(std::size_t production, std::size_t /*modelled*/) noexcept {
  return production;
}

// TSan does not model fences and GCC says so at each of them. Code that relies on one also carries
// release/acquire pairs on the locations that hand data over, which TSan does see.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Wunknown-warning-option"
#pragma GCC diagnostic ignored "-Wtsan"
inline void thread_fence(std::memory_order order) noexcept {
  std::atomic_thread_fence(order);
}
#pragma GCC diagnostic pop

/// Stops the compiler, not the CPU.
inline void compiler_fence() noexcept {
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

/// Tells whoever schedules this kernel thread that it waits for another one to make progress.
inline void yield_kernel_thread() noexcept {
  ::sched_yield();
}

} // namespace weft::base::backend
