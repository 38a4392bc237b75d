// SPDX-License-Identifier: MIT
// How a thread of ours waits for a descriptor: in Weft, and not in the kernel. Others may end the wait, as
// they do waits for words (requests.hpp).
#pragma once

#include "front/pthreads/thread.hpp"
#include "weft/door/deadline.hpp"

#include <sys/socket.h>

namespace weft::pthreads {

enum class wait_end : std::uint8_t {
  ready,       // perhaps: the call will say
  too_late,    // the time is over
  interrupted, // a handler of a signal has run that ends calls: EINTR
  closed,      // the descriptor was closed by this process: EBADF
  unknown,     // it cannot be waited for so: the kernel sees to it
};

/// Whether the caller waits in Weft at all: it is a thread of ours, and in no handler that has interrupted
/// the runtime. *Contexts*: all. *Switches*: never. *Errors*: none.
[[nodiscard]] bool waits_in_weft() noexcept;

/// Until one of `events` (of poll(2)) is there. *Contexts*: waits_in_weft(). *Switches*: may. Does not return
/// if the caller is cancelled.
[[nodiscard]] wait_end wait_for(int descriptor, short events, door::deadline until);

/// connect(2) of a socket that blocks. `error`: the call's, where it ends with `ready`; 0: it is connected.
/// *Contexts*, *Switches*: as wait_for().
[[nodiscard]] wait_end wait_for_connection(int descriptor, const sockaddr* to, socklen_t bytes,
                                           door::deadline until, int& error);

/// Ends the wait that `t` is in. *Contexts*: all but signal handlers. *Switches*: at its end, if a tick came.
/// *Errors*: none.
void end_descriptor_wait(thread& t) noexcept;

} // namespace weft::pthreads
