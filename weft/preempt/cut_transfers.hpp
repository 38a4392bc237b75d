// SPDX-License-Identifier: MIT
// Calls that move bytes, or accept, and that a signal cuts short: they return a part of what was asked, or
// EINTR where the socket has a time limit of its own (SO_RCVTIMEO, SO_SNDTIMEO). See cut_calls.hpp.
#pragma once

#include <cstdint>
#include <optional>

#include "weft/arch/user_mode.hpp"

namespace weft::preempt {

// Whether such a call returns a part of what was asked if a signal ends it. The flags of recvfrom are its
// fourth argument, those of recvmsg its third. Contexts: all.
[[nodiscard]] bool is_of_parts(long number, long third, long fourth) noexcept;

// Whether it looks at bytes without taking them, and waits until all are there: a signal ends that with a
// part, and nobody can go on with it. Contexts: all.
[[nodiscard]] bool peeks_at_all(long number, long third, long fourth) noexcept;

// Whether it moves bytes or accepts, so that the time limit of a socket holds for it. Contexts: all.
[[nodiscard]] bool heeds_limit_of_socket(long number) noexcept;

// In ns: how long such a call waits at most, by its descriptor. Nothing: for good, or it is no socket.
// SIGNAL-SAFE. RACY: the program may close it.
[[nodiscard]] std::optional<std::int64_t> limit_of_socket(long number, long descriptor) noexcept;

// Whether the call has returned a part. SIGNAL-SAFE.
[[nodiscard]] bool is_part(const arch::returned_call& c) noexcept;

// Moves the rest of a part, or makes a call anew that returned EINTR, and returns what the whole call does.
// `since`: when it began, for the limit of its socket. SIGNAL-SAFE.
[[nodiscard]] long move_on(const arch::returned_call& c, std::int64_t since) noexcept;

} // namespace weft::preempt
