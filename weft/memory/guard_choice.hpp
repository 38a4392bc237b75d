// SPDX-License-Identifier: MIT
// For fronts whose own settings say how stacks are guarded.
#pragma once

#include "weft/base/export.hpp"
#include "weft/memory/stack_options.hpp"

namespace weft::memory {

// In place of the value of WEFT_GUARD, for depots that are built from now on. Contexts: all but signal
// handlers. Switches: never. Errors: none.
WEFT_API void set_default_guard(guard_mode mode) noexcept;

} // namespace weft::memory
