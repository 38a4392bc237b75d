// SPDX-License-Identifier: MIT
// One call of the I/O room as a value, so that every event source can do all of them, and the three ways of
// doing one: without waiting, waiting in the kernel, and (in the sources) suspending the thread.
#pragma once

#include "weft/os/clock.hpp"
#include "weft/unit/wait_record.hpp"

#include <cstddef>
#include <cstdint>
#include <sys/socket.h>
#include <sys/uio.h>

namespace weft::io {

enum class operation : std::uint8_t {
  read,    // into buffers, at `offset` or where the descriptor stands
  write,   // the same the other way
  receive, // `flags`; into buffers[0]
  send,    // `flags`; from buffers[0]
  accept,  // `flags` for accept4(2), `address`, `length`
  connect, // `address`, `address_size`
  poll,    // `flags`: the events
  open,    // `path`, `flags`, `mode`; no descriptor
  sync,    // fsync(2)
  sync_data,
};

struct request {
  operation what{};
  int descriptor = -1;
  const iovec* buffers = nullptr;
  int buffer_count = 0;
  bool is_vector = false; // readv(2), writev(2), which differ from read(2), write(2) where there are no bytes
  std::int64_t offset = -1; // -1: where the descriptor stands
  int flags = 0;
  unsigned mode = 0;
  sockaddr* address = nullptr;
  socklen_t* length = nullptr;
  socklen_t address_size = 0;
  const char* path = nullptr;
};

/// What a descriptor has to be ready for, for a request to go on.
enum class direction : std::uint8_t { in, out, any };
[[nodiscard]] direction direction_of(const request& r) noexcept;
/// The same as events of poll(2).
[[nodiscard]] short events_of(const request& r) noexcept;

/// poll(2) of one descriptor.
[[nodiscard]] request request_to_poll(int descriptor, short events) noexcept;

/// All bytes of the buffers.
[[nodiscard]] std::size_t size_of(const request& r) noexcept;

/// Whether the blocking call does not wait either: MSG_DONTWAIT, urgent data, the error queue. The result of
/// attempt() is the call's then.
[[nodiscard]] bool never_waits(const request& r) noexcept;

/// What debuggers are shown of a thread that waits for a request: in the frame of the wait.
class shown_wait {
 public:
  explicit shown_wait(const request& r) noexcept : shown_wait(r.what, r.descriptor) {}
  shown_wait(operation what, int descriptor) noexcept
      : call_{static_cast<std::uint32_t>(what), descriptor, os::coarse_now_ns()},
        record_{unit::wait_kind::io, 0, &call_} {}
  shown_wait(const shown_wait&) = delete;
  shown_wait& operator=(const shown_wait&) = delete;
  [[nodiscard]] const unit::wait_record& record() const noexcept { return record_; }

 private:
  const unit::io_wait call_;
  const unit::wait_record record_;
};

/// What is known of a descriptor and spares system calls. RACY: a wrong hint costs a system call.
struct hints {
  bool no_socket = false;
  bool nonblocking = false; // O_NONBLOCK is set; certain
  // What the last attempt has found; not kept.
  bool is_file = false;           // it is one, or /dev/zero, and only a part was transferred
  bool is_over_then = false;      // of a terminal: what is there after `look_again_ns` is the result
  std::int64_t look_again_ns = 0; // of a terminal: try again then, besides at events; 0: at events only
  int there = 0;                  // bytes that such a terminal has
};

/// Does what can be done without waiting: the result, or -errno; -EAGAIN: it would have to wait. The
/// descriptor's O_NONBLOCK is left alone for sockets and files; a listening socket gets it at its first
/// accept(), and other descriptors that know no RWF_NOWAIT (pipes before Linux 6.4, terminals) at their first
/// use.
[[nodiscard]] int attempt(const request& r, hints& known) noexcept;

/// connect(2) without waiting: as attempt(); -EINPROGRESS: it has begun, now or in an earlier call, and
/// finish_connect() tells more: the same, or how it ended. -EAGAIN: a Unix socket's listener has no room, and
/// there is no event when it has.
[[nodiscard]] int start_connect(const request& r) noexcept;
[[nodiscard]] int finish_connect(const request& r) noexcept;

/// What a terminal that gave up waiting has: the result of `r`, a read, when hints::look_again_ns are over.
[[nodiscard]] int take_what_is_there(const request& r) noexcept;

/// Waits in the kernel as long as it takes.
[[nodiscard]] int perform_blocking(const request& r) noexcept;

/// Whether it is a regular file, a directory or a block device, which no poll(2) tells about.
[[nodiscard]] bool is_file(int descriptor) noexcept;

} // namespace weft::io
