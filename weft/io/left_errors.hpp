// SPDX-License-Identifier: MIT
// Errors of sockets that a call took which had a part through already: that call returns the part, and the
// blocking calls leave the error to the next one.
//
// Most are not taken at all (rest.cpp looks before it tries); this is for a reset that comes between the look
// and the try.
#pragma once

namespace weft::io {

/// Keeps `error`, an errno, for the next call on the socket. Where there is no room the oldest one goes.
/// *Contexts*: all but signal handlers. *Switches*: never.
void leave_error(int descriptor, int error) noexcept;

/// What was left for this socket, once; 0: nothing. A load, where nothing was ever left. *Contexts*: as
/// leave_error(). *Switches*: never.
[[nodiscard]] int take_left_error(int descriptor) noexcept;

} // namespace weft::io
