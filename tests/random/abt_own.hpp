// SPDX-License-Identifier: MIT
// A pool and a scheduler as a user of the C interface writes them. The pool allocates nothing once it is
// there: it is called in the runtime, where nobody may wait for a lock of malloc's that a preempted thread
// holds.
#pragma once

#include "abtx.h"

namespace weft::random_programs {

// First in, first out. Automatic: it goes with the last scheduler that uses it.
[[nodiscard]] ABT_pool make_own_pool();
// It takes from its pools in turn, and is automatic. `inside_another`: one of others in a pool.
[[nodiscard]] ABT_sched make_own_sched(int count, ABT_pool* pools, bool inside_another);

// How many of them run: each has a stack from then on.
[[nodiscard]] unsigned running_own_scheds() noexcept;

// Errors: std::runtime_error with the function's name.
void require(int code, const char* what);

} // namespace weft::random_programs
