// SPDX-License-Identifier: MIT
// How a thread of ours waits for a descriptor: in Weft, and not in the kernel. Others may end the wait, as
// they do waits for words (requests.hpp).
#pragma once

#include "front/pthreads/thread.hpp"
#include "weft/door/deadline.hpp"
#include "weft/io.hpp"

#include <sys/socket.h>

namespace weft::pthreads {

enum class wait_end : std::uint8_t {
  ready,       // perhaps: the call will say
  too_late,    // the time is over
  interrupted, // a handler of a signal has run that ends calls: EINTR
  closed,      // the descriptor was closed by this process: EBADF
  unknown,     // it cannot be waited for so: the kernel sees to it
};

/// Whether the caller waits in Weft at all: it is a thread of ours, with the descriptors of the process, and
/// in no handler that has interrupted the runtime. *Contexts*: all. *Switches*: never. *Errors*: none.
[[nodiscard]] bool waits_in_weft() noexcept;

/// Waits for one call, which is tried before each. *Ownership*: the calling thread, in whose frame it is;
/// made before the first try (io::readiness).
class descriptor_wait {
 public:
  /// `events`: of poll(2). *Contexts*: waits_in_weft(). *Switches*: never. *Errors*: none.
  descriptor_wait(int descriptor, short events) noexcept
      : descriptor_(descriptor), ready_(descriptor, events) {}
  ~descriptor_wait() {
    if (ready_.was_woken())
      self->woken_for = -1; // ~readiness() tells others
  }
  descriptor_wait(const descriptor_wait&) = delete;
  descriptor_wait& operator=(const descriptor_wait&) = delete;
  /// Until it may be tried again. *Contexts*: as above. *Switches*: may. Does not return if the caller is
  /// cancelled.
  [[nodiscard]] wait_end wait(door::deadline until);

 private:
  const int descriptor_;
  io::readiness ready_;
};

/// connect(2) of a socket that blocks. `error`: the call's, where it ends with `ready`; 0: it is connected.
/// *Contexts*, *Switches*: as descriptor_wait::wait().
[[nodiscard]] wait_end wait_for_connection(int descriptor, const sockaddr* to, socklen_t bytes,
                                           door::deadline until, int& error);

/// The calling thread was woken for a descriptor, and has left the frame of the call without having tried:
/// others may. *Contexts*: the thread itself. *Switches*: at its end, if a tick came. *Errors*: none.
void pass_on_what_woke(thread& self) noexcept;

/// Ends the wait that `t` is in. *Contexts*: all but signal handlers. *Switches*: at its end, if a tick came.
/// *Errors*: none.
void end_descriptor_wait(thread& t) noexcept;

} // namespace weft::pthreads
