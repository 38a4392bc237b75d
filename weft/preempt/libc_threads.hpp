// SPDX-License-Identifier: MIT
// libc's own lists of threads, which the dynamic linker goes by: a library that is loaded late and whose
// thread-locals are part of each block writes how they begin to the blocks of all threads there, and what it
// frees it keeps until none of these threads uses it. docs/design/tls-blocks.md
#pragma once

#include <cstddef>

#include "weft/preempt/libc_blocks.hpp"

namespace weft::preempt {

// A block that is not in these lists for libc to take out: linked to itself.
void keep_apart(const libc_blocks& known, std::byte* block) noexcept;

// Puts a block there, for good: it may not be freed any more. A block whose thread-locals are written after
// that misses no library. Where libc's lists are not as expected it is kept apart. Contexts: one kernel
// thread of the process at a time. Takes no lock.
void join_libcs_threads(const libc_blocks& known, std::byte* block) noexcept;

// The same in a child of fork(), where libc has forgotten all blocks: for that of the only thread, or for any
// if this has none. Others can be put there again.
void lead_libcs_threads(const libc_blocks& known, std::byte* block) noexcept;

} // namespace weft::preempt
