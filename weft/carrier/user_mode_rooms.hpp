// SPDX-License-Identifier: MIT
// Memory for what preemptible threads have beside their descriptors (user_mode.hpp), most of which is zero
// from its first use on, and is not written again for the next thread.
#pragma once

namespace weft::sched {

// Room for a user_mode: zero but where a thread has written before. Null: out of memory. Contexts: in the
// runtime. Switches: never.
[[nodiscard]] void* take_user_mode_room() noexcept;
void give_user_mode_room(void* room) noexcept;
// The child of fork(): what is free is left behind.
void forget_user_mode_rooms_after_fork() noexcept;

} // namespace weft::sched
