// SPDX-License-Identifier: MIT
// What lies below a stack: an inaccessible page that costs no mapping, one that costs two, or a zone that is
// watched.
#pragma once

#include "weft/base/export.hpp"
#include "weft/memory/stack_options.hpp"
#include "weft/memory/stack_record.hpp"

#include <cstddef>

namespace weft::memory {

// What `wanted` comes to on this kernel with these pages. Says on stderr, once, if an explicit wish cannot be
// met. Guards would keep a huge page from ever being used, so automatic means canaries there.
guard_mode resolve_guard(guard_mode wanted, stack_pages pages) noexcept;

// Makes [at, at + bytes) inaccessible in the given mode. False: watch a canary zone there instead (said
// once).
bool install_stack_guard(guard_mode mode, void* at, std::size_t bytes) noexcept;

// `count` guards made by mprotect are unmapped: their mappings may be used again.
void return_protected_guards(std::size_t count) noexcept;

// True once any stack has a canary; caches then look at each free. Contexts: all.
bool canaries_in_use() noexcept;

// Looks at the guard zone of a stack with a canary, at each byte next to the stack and at a quarter of the
// rest, and ends the process with a message if it is not zero.
void verify_canary(const stack_record& stack) noexcept;

// The same, but of the rest a sixteenth: for a stack that goes to another thread at once. Who gives the stack
// back looks at it by verify_canary().
void glance_at_canary(const stack_record& stack) noexcept;

// Fraction of vm.max_map_count that guards may use, as a divisor; and a smaller limit for tests (0: the
// kernel's).
WEFT_API void set_mapping_limit_for_tests(std::size_t limit) noexcept;
WEFT_API std::size_t protected_guard_count() noexcept;

} // namespace weft::memory
