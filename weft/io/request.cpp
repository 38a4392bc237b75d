// SPDX-License-Identifier: MIT
#include "weft/io/request.hpp"

#include "weft/os/interruptible.hpp"

#include <cerrno>
#include <climits>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

namespace weft::io {
namespace {

template <class Call>
int result_of(Call call) noexcept {
  const auto result = os::uninterrupted(call);
  return result >= 0 ? static_cast<int>(result) : -errno;
}

int nonblocking_flag(int descriptor, bool wanted) noexcept {
  const int flags = ::fcntl(descriptor, F_GETFL);
  if (flags < 0)
    return -errno;
  if (((flags & O_NONBLOCK) != 0) == wanted)
    return wanted ? 1 : 0;
  if (::fcntl(descriptor, F_SETFL, wanted ? flags | O_NONBLOCK : flags & ~O_NONBLOCK) != 0)
    return -errno;
  return wanted ? 0 : 1;
}

int transfer(const request& r, int flags) noexcept {
  return result_of([&] {
    return r.what == operation::read ? ::preadv2(r.descriptor, r.buffers, r.buffer_count, r.offset, flags)
                                     : ::pwritev2(r.descriptor, r.buffers, r.buffer_count, r.offset, flags);
  });
}

int transfer_message(const request& r, int flags) noexcept {
  msghdr message{};
  message.msg_iov = const_cast<iovec*>(r.buffers);
  message.msg_iovlen = static_cast<std::size_t>(r.buffer_count);
  const bool in = r.what == operation::read || r.what == operation::receive;
  return result_of([&] {
    if (r.buffer_count == 1) {
      const iovec& only = r.buffers[0];
      return in ? ::recv(r.descriptor, only.iov_base, only.iov_len, flags)
                : ::send(r.descriptor, only.iov_base, only.iov_len, flags | MSG_NOSIGNAL);
    }
    return in ? ::recvmsg(r.descriptor, &message, flags)
              : ::sendmsg(r.descriptor, &message, flags | MSG_NOSIGNAL);
  });
}

int attempt_transfer(const request& r, hints& known) noexcept {
  if (r.offset == -1 && !known.no_socket) {
    const int result = transfer_message(r, MSG_DONTWAIT);
    if (result != -ENOTSOCK)
      return result;
    known.no_socket = true;
  }
  const int result = transfer(r, RWF_NOWAIT);
  if (result != -EOPNOTSUPP)
    return result;
  if (is_file(r.descriptor))
    return -EAGAIN; // the file system cannot say
  if (const int error = nonblocking_flag(r.descriptor, true); error < 0)
    return error;
  return transfer(r, 0);
}

int accept_now(const request& r) noexcept {
  return result_of([&] { return ::accept4(r.descriptor, r.address, r.length, r.flags); });
}

int poll_now(const request& r, int patience) noexcept {
  pollfd asked{r.descriptor, static_cast<short>(r.flags), 0};
  const int ready = result_of([&] { return ::poll(&asked, 1, patience); });
  if (ready <= 0)
    return ready;
  return (asked.revents & POLLNVAL) != 0 ? -EBADF : asked.revents;
}

int open_now(const request& r) noexcept {
  return result_of([&] { return ::open(r.path, r.flags, r.mode); });
}

} // namespace

direction direction_of(const request& r) noexcept {
  switch (r.what) {
  case operation::read:
  case operation::receive:
  case operation::accept:
    return direction::in;
  case operation::poll:
    return direction::any;
  default:
    return direction::out;
  }
}

short events_of(const request& r) noexcept {
  if (r.what == operation::poll)
    return static_cast<short>(r.flags);
  return direction_of(r) == direction::in ? POLLIN : POLLOUT;
}

bool is_file(int descriptor) noexcept {
  struct stat known{};
  return ::fstat(descriptor, &known) == 0 &&
         (S_ISREG(known.st_mode) || S_ISDIR(known.st_mode) || S_ISBLK(known.st_mode));
}

int attempt(const request& r, hints& known) noexcept {
  switch (r.what) {
  case operation::read:
  case operation::write:
    return attempt_transfer(r, known);
  case operation::receive:
  case operation::send:
    return transfer_message(r, r.flags | MSG_DONTWAIT);
  case operation::accept:
    if (!known.nonblocking) {
      if (const int error = nonblocking_flag(r.descriptor, true); error < 0)
        return error;
      known.nonblocking = true;
    }
    return accept_now(r);
  case operation::poll: {
    const int ready = poll_now(r, 0);
    return ready == 0 ? -EAGAIN : ready;
  }
  case operation::connect:
    return start_connect(r);
  case operation::open:
  case operation::sync:
  case operation::sync_data:
    return -EAGAIN;
  }
  return -EINVAL;
}

int start_connect(const request& r) noexcept {
  const int before = nonblocking_flag(r.descriptor, true);
  if (before < 0)
    return before;
  int result = ::connect(r.descriptor, r.address, r.address_size) == 0 ? 0 : -errno;
  if ((result == 0 || result == -EINPROGRESS) && os::fault(os::fault_site::interrupted) != 0)
    result = -EINTR;
  if (result == -EINTR)
    result = -EINPROGRESS; // as POSIX has it: it goes on
  if (before == 0)
    nonblocking_flag(r.descriptor, false);
  return result;
}

int finish_connect(int descriptor) noexcept {
  int error = 0;
  socklen_t size = sizeof error;
  if (::getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &size) != 0)
    return -errno;
  return -error;
}

int perform_blocking(const request& r) noexcept {
  switch (r.what) {
  case operation::read:
  case operation::write:
    return transfer(r, 0);
  case operation::receive:
  case operation::send:
    return transfer_message(r, r.flags);
  case operation::accept:
    return accept_now(r);
  case operation::poll:
    return poll_now(r, -1);
  case operation::connect:
    return result_of([&] { return ::connect(r.descriptor, r.address, r.address_size); });
  case operation::open:
    return open_now(r);
  case operation::sync:
    return result_of([&] { return ::fsync(r.descriptor); });
  case operation::sync_data:
    return result_of([&] { return ::fdatasync(r.descriptor); });
  }
  return -EINVAL;
}

} // namespace weft::io
