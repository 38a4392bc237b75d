// SPDX-License-Identifier: MIT
// Stacks wiped before they are used again (WEFT_STACK_WIPE=1): no thread finds on its stack what another one
// has left there. Off by default, and then free of cost: caches take their slow path only while it is on. It
// happens when a stack is handed out, not when it is given back, because who gives a stack back still runs on
// it. Until then, or until trim() gives the pages back, its bytes stay in memory.
#pragma once

#include "weft/base/export.hpp"
#include "weft/memory/stack_record.hpp"

#include <cstddef>

namespace weft::memory {

// Contexts: all. Switches: never.
WEFT_API bool wipe_enabled() noexcept;
// Takes effect in each cache at its next slow path; set it before threads run. Contexts: all.
WEFT_API void set_wipe(bool enabled) noexcept;

// The lowest memory page of [low, top) that the process has; `top` if none. Contexts: all. Switches: never.
std::byte* lowest_resident(std::byte* low, std::byte* top) noexcept;

// All usable bytes of a stack that nobody runs on read as zero afterwards. Whole pages are given back to the
// kernel. Contexts: the stack's owner. Switches: never. Errors: none.
void clean(stack_record& stack) noexcept;

} // namespace weft::memory
