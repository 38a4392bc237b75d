// SPDX-License-Identifier: MIT
// TLS blocks for threads of kind bound_tls that no kernel thread stands behind: made by libc's own function
// for the blocks of kernel threads, completed (libc_blocks.hpp), and kept for the next thread when one has
// ended. The donors (donors.hpp) take their place where that cannot be. docs/design/tls-blocks.md
#pragma once

#include <cstddef>

#include "weft/base/export.hpp"
#include "weft/carrier/tls_block.hpp"

namespace weft::preempt {

// Whether blocks are made; asks the creator, which runs, and waits for it, if nobody has yet. What stands in
// the way is said once. Contexts: thread, foreign kernel thread; in the runtime. Switches: never (the kernel
// thread blocks).
[[nodiscard]] WEFT_API bool blocks_are_made() noexcept;
// Null: they are. Contexts: all but signal handlers.
[[nodiscard]] WEFT_API const char* why_no_blocks_are_made() noexcept;

// As of a tls_lender, for blocks that are made.
sched::tls_block* bind_made(bool first);
void await_made() noexcept;
void take_back_made(sched::tls_block* first) noexcept; // a list
bool renew_made(sched::tls_block& block) noexcept;
void begin_on_made(sched::tls_block& block) noexcept;
void end_on_made(sched::tls_block& block) noexcept;

// Finds out, and makes those that are waited for, and some more. For the creator, which may wait for libc's
// locks.
void make_blocks() noexcept;
// The spares of those that are out are gone; the blocks stay, as what malloc keeps in them cannot be given
// back. Contexts: as end_donors().
void forget_spares_of_made() noexcept;
// The child of fork() has none but that of its thread: their ids are the parent's.
void forget_made_after_fork() noexcept;
// How many there are, in use or not. Contexts: all.
[[nodiscard]] WEFT_API std::size_t made_block_count() noexcept;

} // namespace weft::preempt
