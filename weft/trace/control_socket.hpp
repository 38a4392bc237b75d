// SPDX-License-Identifier: MIT
// Where a process listens to its user's tools, and how both sides make sure of each other: a Unix socket of
// mode 0600 in a folder of mode 0700, and the kernel's word on who is at the other end. Why so:
// docs/design/tracing.md.
#pragma once

#include <sys/types.h>

#include "weft/base/export.hpp"

namespace weft::trace {

// The folder, $XDG_RUNTIME_DIR/weft or else /tmp/weft-<user>, opened; it is made if need be. It is refused
// (EPERM) unless it is a folder of the caller's that others cannot enter. -1: errno says why.
// Contexts: thread, foreign kernel thread. Switches: never (may block in the kernel).
[[nodiscard]] WEFT_API int open_control_folder() noexcept;

// A socket, of this process, that listens and does not block; one that a process of the same id has left
// behind goes. -1: errno says why.
[[nodiscard]] WEFT_API int listen_for_control() noexcept;
// Takes it out of the folder.
WEFT_API void unlink_control() noexcept;

// A connection to a process of the caller's. -1: errno says why; ENOENT or ECONNREFUSED: it does not listen;
// EPERM: whoever listens there is another process, or another user's.
[[nodiscard]] WEFT_API int connect_to_control(pid_t process) noexcept;

// Whether the other end of a connection belongs to this user (or root).
[[nodiscard]] WEFT_API bool is_same_user(int connection) noexcept;

} // namespace weft::trace
