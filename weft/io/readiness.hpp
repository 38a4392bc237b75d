// SPDX-License-Identifier: MIT
// Waiting for a descriptor around a call that this room does not have: recvmsg(2), splice(2), a TLS
// library's. The two steps of an event count (folly's prepareWait() and commitWait()): it is made, the call
// is tried, and only then does a wait begin.
#pragma once

#include "weft/base/export.hpp"
#include "weft/io/limit.hpp"

#include <cstdint>
#include <system_error>

namespace weft::io {

class descriptor_record;

/// Of one call that may have to be tried several times:
///
///     io::readiness ready(socket, POLLIN);
///     while ((got = ::recvmsg(socket, &message, MSG_DONTWAIT)) < 0 && errno == EAGAIN)
///       ready.wait();
///
/// An event that comes between a try and the wait ends that wait, so make it before the first try. It costs a
/// few instructions where nobody has to wait. *Ownership*: one thread, in whose frame it is. *Contexts*: as
/// the calls of operations.hpp.
class WEFT_API readiness {
 public:
  /// `events`: POLLIN and its kin, POLLOUT, or both. *Switches*: never. *Errors*: none; wait() tells.
  readiness(int descriptor, short events) noexcept;
  /// If others wait for the same, what this one has left is for one of them. *Switches*: never.
  ~readiness();
  readiness(const readiness&) = delete;
  readiness& operator=(const readiness&) = delete;

  /// Suspends the thread until the call may be tried again, which may be in vain. *Switches*: may. *Errors*:
  /// as of operations.hpp: ETIMEDOUT, ECANCELED, EBADF (closed, or no descriptor), ENOMEM, EMFILE, ENFILE;
  /// besides EPERM: from a tasklet, and of a file, which has no such events.
  void wait(const limit& how_long = {});
  void wait(std::error_code& error, const limit& how_long = {}) noexcept;
  /// Whether an event has ended a wait: what it stands for is for others too. For who may leave the frame
  /// without the destructor, and then owes them wake_waiters().
  [[nodiscard]] bool was_woken() const noexcept { return was_woken_; }

 private:
  [[nodiscard]] int wait_for_edge(const limit& how_long) noexcept;

  const int descriptor_;
  const short events_;
  bool was_woken_ = false;
  std::uint32_t seen_ = 0; // edges, before the try
  std::uint32_t generation_ = 0;
  descriptor_record* const record_; // null: there is none
};

/// Each thread that waits for `descriptor`, in a call of this room or by readiness, tries its call again; a
/// foreign kernel thread, which waits in the kernel, is not reached. For those who have a reason of their own
/// to end a wait, and have set what the waiting thread looks at before it tries. *Contexts*: all but signal
/// handlers. *Switches*: never. *Errors*: none.
WEFT_API void wake_waiters(int descriptor) noexcept;

} // namespace weft::io
