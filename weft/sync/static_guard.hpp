// SPDX-License-Identifier: MIT
// The guard of a static variable with an initialiser: what the compiler calls where several threads may come
// to it first (__cxa_guard_acquire() and its like, weft/sync/static_guard_abi.cpp). `guard`: the variable's,
// of eight bytes.
#pragma once

#include "weft/base/export.hpp"

namespace weft::sync {

/// True: the caller makes the variable, and then releases or aborts. False: it is made. *Contexts*: all but
/// signal handlers; what is no thread blocks its kernel thread. *Switches*: if another one makes it.
/// *Errors*: std::system_error(resource_deadlock_would_occur) where the only kernel thread, which is no
/// worker, would wait for itself; a thread that does waits for good.
WEFT_API bool acquire_guard(void* guard);
/// *Contexts*: who makes the variable. *Switches*: never. *Errors*: none.
WEFT_API void release_guard(void* guard) noexcept;
/// The initialiser has thrown: the next who comes makes the variable. As release_guard().
WEFT_API void abort_guard(void* guard) noexcept;

/// For the runtime, in the child of fork(): nobody waits there.
WEFT_API void forget_guard_waits_after_fork() noexcept;

} // namespace weft::sync
