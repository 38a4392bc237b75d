// SPDX-License-Identifier: MIT
// Fences: the symmetric ones of C++, and the asymmetric pair in which the rare side pays for the frequent
// side. heavy_fence() is implemented by the os room (Linux membarrier); the checker supplies its own. The
// argument for the pair: weft/queue/README.md (Q2).
#pragma once

#include "weft/base/atomic_backend.hpp"
#include "weft/base/export.hpp"

namespace weft::base {

/// True once heavy_fence() acts on behalf of every kernel thread of the process. Goes from false to true at
/// most once, while the library is loaded, and never back: code that saw true may rely on it for good.
extern WEFT_API bool asymmetric_fences;

/// Full (sequentially consistent) fence of the calling kernel thread.
/// *Contexts*: any, also signal handlers. *Switches*: never. *Errors*: none.
inline void full_fence(backend::site at = backend::site::current()) noexcept {
  backend::thread_fence(std::memory_order_seq_cst, at);
}

/// Orders earlier loads before all later accesses. *Contexts*: any. *Switches*: never. *Errors*: none.
inline void acquire_fence(backend::site at = backend::site::current()) noexcept {
  backend::thread_fence(std::memory_order_acquire, at);
}

/// Orders earlier accesses before all later stores. *Contexts*: any. *Switches*: never. *Errors*: none.
inline void release_fence(backend::site at = backend::site::current()) noexcept {
  backend::thread_fence(std::memory_order_release, at);
}

/// The frequent side of the asymmetric pair: a full fence in relation to any heavy_fence() of another
/// kernel thread. Costs nothing but a test where membarrier works, a full fence elsewhere. *Contexts*: any,
/// also signal handlers. *Switches*: never. *Errors*: none.
inline void light_fence() noexcept {
  backend::compiler_fence();
  if (!asymmetric_fences) [[unlikely]] {
    full_fence();
  }
}

/// light_fence() for code that has itself established `asymmetric_fences` (the deque keeps that in its
/// mode) and so saves the test. *Contexts*: any. *Switches*: never. *Undefined* if `asymmetric_fences` is
/// false.
inline void unsafe_light_fence() noexcept {
  backend::compiler_fence();
}

/// The rare side: between its call and its return every kernel thread of the process has executed a full
/// fence at a point of its program order, the caller at both ends. 0.4 to 8 microseconds. *Contexts*: any,
/// also signal handlers. *Switches*: never. *Errors*: none (falls back to a full fence, which is enough
/// because light_fence() is then a full fence as well).
WEFT_API void heavy_fence() noexcept;

} // namespace weft::base
