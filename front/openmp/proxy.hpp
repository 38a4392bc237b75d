// SPDX-License-Identifier: MIT
// Regions for threads of Weft without thread-local variables of their own. Such a thread may go on on another
// worker after each wait, where it would find another thread of OpenMP; so a thread that has variables of its
// own, a proxy, opens the region and is its master, while the caller is suspended.
#pragma once

#include "front/openmp/thread.hpp"

namespace weft::openmp {

/// The caller finds itself by variables of its worker, which it may leave. *Contexts*: as caller().
[[nodiscard]] bool needs_a_proxy(const thread& t) noexcept;

/// Calls `job(proxy's thread, argument)` on a proxy that has the caller's control variables, and waits for
/// the end. Proxies are kept, with their teams, and the one that was last used is the next to be used. False:
/// none could be had, nothing was done. `t`: the caller's, in no region; GONE as that: the caller may be on
/// another worker. *Contexts*: thread of Weft. *Switches*: always. *Errors*: none.
bool call_on_proxy(thread& t, void (*job)(thread& proxys, void* argument), void* argument);

/// In the child of fork(): they are gone.
void forget_proxies() noexcept;

} // namespace weft::openmp
