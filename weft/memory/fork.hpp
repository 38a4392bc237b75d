// SPDX-License-Identifier: MIT
// The locks of this room across fork(): taken before, released after, on both sides. The runtime's atfork
// hooks call these; they are innermost, so prepare comes last and parent and child come first. Caches of
// workers that do not exist in the child are destroyed there by the runtime, which sends their stacks and
// objects on.
#pragma once

#include "weft/base/export.hpp"

namespace weft::memory {

class object_depot;

// Contexts: the forking kernel thread, holding no lock of this room. Switches: never.
WEFT_API void fork_prepare() noexcept;
WEFT_API void fork_parent() noexcept;
WEFT_API void fork_child() noexcept;

// For this room only.
void register_depot(object_depot& depot) noexcept;
void release_after_fork() noexcept;
void lock_slab_records() noexcept;
void unlock_slab_records() noexcept;
void lock_watermarks() noexcept;
void unlock_watermarks() noexcept;

} // namespace weft::memory
