// SPDX-License-Identifier: MIT
#include "weft/io/request.hpp"

#include "weft/os/interruptible.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <termios.h>
#include <unistd.h>

namespace weft::io {

// By these numbers `weft ps` names calls: weft/view/inspection.cpp.
static_assert(static_cast<int>(operation::read) == 0 && static_cast<int>(operation::write) == 1 &&
              static_cast<int>(operation::receive) == 2 && static_cast<int>(operation::send) == 3 &&
              static_cast<int>(operation::accept) == 4 && static_cast<int>(operation::connect) == 5 &&
              static_cast<int>(operation::poll) == 6 && static_cast<int>(operation::open) == 7 &&
              static_cast<int>(operation::sync) == 8 && static_cast<int>(operation::sync_data) == 9);

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

// Of no bytes, or of buffers that cannot be: nothing waits but what a datagram of no bytes waits for. A
// socket's read(2) takes nothing then, where recv(2) waits and takes a datagram; writev(2) does nothing,
// where write(2) sends a datagram.
int transfer_nothing(const request& r) noexcept {
  if (r.offset != -1)
    return transfer(r, 0);
  if (r.what == operation::read) {
    return result_of([&] {
      return r.is_vector ? ::readv(r.descriptor, r.buffers, r.buffer_count)
                         : ::read(r.descriptor, r.buffers->iov_base, 0);
    });
  }
  if (r.is_vector)
    return result_of([&] { return ::writev(r.descriptor, r.buffers, r.buffer_count); });
  const int result = transfer_message(r, MSG_DONTWAIT);
  return result != -ENOTSOCK ? result
                             : result_of([&] { return ::write(r.descriptor, r.buffers->iov_base, 0); });
}

// A terminal that hands out bytes as they come has rules when a read ends (termios(3), MIN and TIME), which
// it does not keep where O_NONBLOCK is set.
int read_terminal(const request& r, const termios& rules, hints& known) noexcept {
  const std::size_t least = std::min<std::size_t>(rules.c_cc[VMIN], size_of(r));
  const std::int64_t time = rules.c_cc[VTIME] * std::int64_t{100'000'000};
  pollfd state{r.descriptor, POLLIN, 0}; // brings in what is on its way, which FIONREAD does not
  int there = 0;
  const bool is_gone = ::poll(&state, 1, 0) > 0 && (state.revents & (POLLHUP | POLLERR)) != 0;
  if (is_gone || (least == 0 && time == 0) || ::ioctl(r.descriptor, FIONREAD, &there) != 0 ||
      static_cast<std::size_t>(there) >= std::max<std::size_t>(least, 1))
    return transfer(r, 0);
  constexpr std::int64_t look = 5'000'000;
  known.there = there;
  known.is_over_then = time != 0 && (least == 0 || there > 0);
  // There is no event before MIN bytes, although fewer will do.
  known.look_again_ns = known.is_over_then ? time : least < rules.c_cc[VMIN] ? look : 0;
  return -EAGAIN;
}

// /dev/zero and /dev/full: where others want the CPU they give a part to who may not wait, and all to who
// may.
bool gives_zeros(int descriptor) noexcept {
  constexpr unsigned memory = 1, zero = 5, full = 7; // Linux's list of devices
  struct stat known{};
  return ::fstat(descriptor, &known) == 0 && S_ISCHR(known.st_mode) && major(known.st_rdev) == memory &&
         (minor(known.st_rdev) == zero || minor(known.st_rdev) == full);
}

int attempt_transfer(const request& r, hints& known) noexcept {
  if (size_of(r) == 0 || r.buffer_count <= 0 || r.buffer_count > IOV_MAX)
    return transfer_nothing(r);
  if (r.offset == -1 && !known.no_socket) {
    const int result = transfer_message(r, MSG_DONTWAIT);
    if (result != -ENOTSOCK)
      return result;
    known.no_socket = true;
  }
  const int result = transfer(r, RWF_NOWAIT);
  if (result > 0 && static_cast<std::size_t>(result) < size_of(r))
    known.is_file = r.offset != -1 || is_file(r.descriptor) || gives_zeros(r.descriptor);
  if (result != -EOPNOTSUPP)
    return result;
  if (is_file(r.descriptor))
    return -EAGAIN; // the file system cannot say
  if (const int error = nonblocking_flag(r.descriptor, true); error < 0)
    return error;
  termios rules{};
  if (r.what == operation::read && ::tcgetattr(r.descriptor, &rules) == 0 && (rules.c_lflag & ICANON) == 0)
    return read_terminal(r, rules, known);
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

int connect_now(const request& r) noexcept {
  const int before = nonblocking_flag(r.descriptor, true);
  if (before < 0)
    return before;
  int result = ::connect(r.descriptor, r.address, r.address_size) == 0 ? 0 : -errno;
  if ((result == 0 || result == -EINPROGRESS) && os::fault(os::fault_site::interrupted) != 0)
    result = -EINTR;
  if (before == 0)
    nonblocking_flag(r.descriptor, false);
  return result;
}

int open_now(const request& r) noexcept {
  return result_of([&] { return ::open(r.path, r.flags, r.mode); });
}

} // namespace

request request_to_poll(int descriptor, short events) noexcept {
  request r;
  r.what = operation::poll;
  r.descriptor = descriptor;
  r.flags = events;
  return r;
}

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

std::size_t size_of(const request& r) noexcept {
  std::size_t sum = 0;
  for (int i = 0; i < r.buffer_count; ++i)
    sum += r.buffers[i].iov_len;
  return sum;
}

bool never_waits(const request& r) noexcept {
  if (r.what != operation::receive && r.what != operation::send)
    return false;
  if ((r.flags & MSG_DONTWAIT) != 0)
    return true;
  if (r.what == operation::send || (r.flags & (MSG_OOB | MSG_ERRQUEUE)) == 0)
    return false;
  // A Unix socket knows no error queue, datagrams are never urgent: there the flags are nothing.
  const auto is = [&](int option, int value) noexcept {
    int found = 0;
    socklen_t size = sizeof found;
    return ::getsockopt(r.descriptor, SOL_SOCKET, option, &found, &size) == 0 && found == value;
  };
  return ((r.flags & MSG_OOB) != 0 && is(SO_TYPE, SOCK_STREAM)) ||
         ((r.flags & MSG_ERRQUEUE) != 0 && !is(SO_DOMAIN, AF_UNIX));
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

int take_what_is_there(const request& r) noexcept {
  const int result = transfer(r, 0);
  return result == -EAGAIN ? 0 : result;
}

int start_connect(const request& r) noexcept {
  const int result = connect_now(r);
  // as POSIX has it: it goes on; and who calls again waits for that
  return result == -EINTR || result == -EALREADY ? -EINPROGRESS : result;
}

// Of the internet's protocols, connect(2) itself tells how it ended, once, and the socket can then be used
// for the next try. SO_ERROR would leave it to believe that it still connects (ECONNABORTED at the next try).
int finish_connect(const request& r) noexcept {
  pollfd asked{r.descriptor, POLLOUT, 0};
  const int ready = result_of([&] { return ::poll(&asked, 1, 0); });
  if (ready <= 0)
    return ready < 0 ? ready : -EINPROGRESS;
  if (r.address->sa_family == AF_INET || r.address->sa_family == AF_INET6) {
    int result;
    do {
      result = connect_now(r);
    } while (result == -EINTR);
    return result == -EISCONN ? 0 : result;
  }
  int error = 0;
  socklen_t size = sizeof error;
  if (::getsockopt(r.descriptor, SOL_SOCKET, SO_ERROR, &error, &size) != 0)
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
