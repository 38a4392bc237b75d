// SPDX-License-Identifier: MIT
// Kernel threads that do nothing but lend their thread-local storage to threads that are preempted
// (carrier/user_mode.hpp): what malloc, stdio, recursive locks, exceptions and `thread_local` keep per kernel
// thread then stays with the thread that was interrupted in their midst.
#pragma once

#include <cstddef>

#include "weft/base/export.hpp"

namespace weft::preempt {

// Sees to it that there are `wanted` donors; at most WEFT_PREEMPTION_DONORS. Contexts: thread, foreign kernel
// thread. Switches: never (the kernel thread blocks until they run). Errors: std::system_error if a kernel
// thread cannot be had; those that could stay.
WEFT_API void provide_donors(std::size_t wanted);
// A few more, and those to bind that are waited for. For the creator, which may wait for libc's locks.
void make_donors() noexcept;
void make_bound_donors() noexcept;
// False: some are about to end still.
bool join_leaving_donors() noexcept;
// All blocks are back: ends the donors and waits until they are gone. Contexts: a foreign kernel thread or
// the primary thread, when no preemptible thread is left.
void end_donors() noexcept;
// The child of fork() has no donors.
void forget_donors_after_fork() noexcept;
[[nodiscard]] WEFT_API std::size_t donor_count() noexcept;

} // namespace weft::preempt
