// SPDX-License-Identifier: MIT
// Code on stacks. libc makes the stacks of all its threads executable when a library is loaded that asks for
// it (nested functions of C need that); stacks that are not libc's have to follow.
#pragma once

#include <cstddef>

namespace weft::os {

// Whether libc has done so, or begun with it: true for good. Contexts: all, SIGNAL-SAFE.
[[nodiscard]] bool stacks_are_executable() noexcept;

// Whole pages, readable and writable, become executable too. May split a mapping: ENOMEM when that would pass
// vm.max_map_count. Errors: 0 or an errno value. Contexts: all, SIGNAL-SAFE. Fault site: mprotect.
int make_executable(void* at, std::size_t bytes) noexcept;

} // namespace weft::os
