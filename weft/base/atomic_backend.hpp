// SPDX-License-Identifier: MIT
// The one seam between Weft and the memory model. This file maps the names onto std::atomic;
// tests/model/seam/weft/base/atomic_backend.hpp, found first by the model tests, maps the same names onto
// the checker, so that the checker runs the very code that ships. Nothing but weft/base includes this file.
#pragma once

#include <atomic>
#include <cstddef>

#include "weft/base/export.hpp"
#include "weft/base/portable_look.hpp"

namespace weft::base::backend {

/// A memory location that several kernel threads may touch at once.
template <class T>
using cell = std::atomic<T>;

/// Where in the source an operation stands: the checker weakens one of them at a time. Nothing here.
struct site {
  static constexpr site current() noexcept { return {}; }
};
template <class T>
[[gnu::always_inline]] constexpr cell<T>& marked(cell<T>& c, site) noexcept {
  return c;
}
template <class T>
[[gnu::always_inline]] constexpr const cell<T>& marked(const cell<T>& c, site) noexcept {
  return c;
}

/// A load that is only compared. GCC folds no atomic load into its user: it takes a register and an
/// instruction more, five times in a create and join.
#if defined(__x86_64__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__) &&                           \
    !defined(__SANITIZE_ADDRESS__)
// Words of 1, 4 and 8 bytes. Every load is an acquire on x86-64; the clobber tells the compiler so.
struct folded_look {
  template <class T>
  [[gnu::always_inline]] static bool equals_relaxed(const cell<T>& c, T value) noexcept {
    bool equal;
    if constexpr (sizeof(T) == 8) {
      asm volatile("cmpq %2, %1" : "=@cce"(equal) : "m"(c), "re"(value));
    } else if constexpr (sizeof(T) == 4) {
      asm volatile("cmpl %2, %1" : "=@cce"(equal) : "m"(c), "re"(value));
    } else {
      static_assert(sizeof(T) == 1);
      asm volatile("cmpb %2, %1" : "=@cce"(equal) : "m"(c), "qi"(value));
    }
    return equal;
  }
  template <class T>
  [[gnu::always_inline]] static bool equals_acquire(const cell<T>& c, T value) noexcept {
    static_assert(sizeof(T) == 8);
    bool equal; // one statement: the clobber must not come between the flags and their use
    asm volatile("cmpq %2, %1" : "=@cce"(equal) : "m"(c), "re"(value) : "memory");
    return equal;
  }
  template <class T>
  [[gnu::always_inline]] static bool any_relaxed(const cell<T>& c, T mask) noexcept {
    bool any;
    if constexpr (sizeof(T) == 8) {
      asm volatile("testq %2, %1" : "=@ccne"(any) : "m"(c), "re"(mask));
    } else {
      static_assert(sizeof(T) == 4);
      asm volatile("testl %2, %1" : "=@ccne"(any) : "m"(c), "re"(mask));
    }
    return any;
  }
};
using look = folded_look;
#else
using look = portable_look;
#endif

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
inline void thread_fence(std::memory_order order, site = {}) noexcept {
  std::atomic_thread_fence(order);
}
#pragma GCC diagnostic pop

/// Stops the compiler, not the CPU.
inline void compiler_fence() noexcept {
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

/// Tells whoever schedules this kernel thread that it waits for another one to make progress. Not by way of
/// sched_yield(), which may let another thread of Weft run.
WEFT_API void yield_kernel_thread() noexcept;

} // namespace weft::base::backend
