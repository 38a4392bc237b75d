// SPDX-License-Identifier: MIT
// Calls on sockets, pipes, terminals and eventfds that wait. A thread of ours tries the call without waiting;
// if it would wait, it waits in Weft (descriptor_wait.hpp), and tries again. So the descriptor stays as it
// is, and what the call does is what libc's does. What cannot be tried so (a part of a vector, all of
// MSG_WAITALL) waits in Weft until it can begin, and then in the kernel, where the worker leaves it.
#include "front/pthreads/descriptor_wait.hpp"
#include "front/pthreads/engine.hpp"
#include "front/pthreads/known_descriptors.hpp"
#include "front/pthreads/libc.hpp"
#include "front/pthreads/libc_cancellation.hpp"
#include "front/pthreads/requests.hpp"
#include "weft/door/section.hpp"
#include "weft/io.hpp"

#include <algorithm>
#include <fcntl.h>
#include <optional>
#include <sys/stat.h>

namespace weft::pthreads {
namespace {

long would_wait() noexcept {
  errno = EAGAIN;
  return -1;
}

bool is_ready(int descriptor, short events) {
  pollfd wanted{descriptor, events, 0};
  return libc.poll(&wanted, 1, 0) != 0;
}

bool is_nonblocking(int descriptor) noexcept {
  const int flags = ::fcntl(descriptor, F_GETFL);
  return flags < 0 || (flags & O_NONBLOCK) != 0;
}

// Nothing: it has none.
std::optional<timeval> limit_of(int descriptor, int which) noexcept {
  timeval limit{};
  socklen_t bytes = sizeof limit;
  if (::getsockopt(descriptor, SOL_SOCKET, which, &limit, &bytes) != 0 ||
      (limit.tv_sec == 0 && limit.tv_usec == 0))
    return std::nullopt;
  return limit;
}

// The end of a wait that begins now, by the time limits of a socket.
door::deadline end_of_wait(int descriptor, short events) noexcept {
  if (has_no_limits(descriptor))
    return door::no_deadline;
  const std::uint64_t turn = turn_of_limits();
  const bool in = (events & POLLIN) != 0;
  if (const std::optional<timeval> limit = limit_of(descriptor, in ? SO_RCVTIMEO : SO_SNDTIMEO))
    return door::now() + door::ns_of({limit->tv_sec, limit->tv_usec * 1000});
  if (is_watched(descriptor) && !limit_of(descriptor, in ? SO_SNDTIMEO : SO_RCVTIMEO))
    note_no_limits(descriptor, turn);
  return door::no_deadline;
}

// A cancellation interrupts it there.
template <class Kernel>
long in_kernel(Kernel kernel) {
  const long result = kernel();
  if (result < 0 && errno == EINTR && self != nullptr) {
    act_on_requests();
    errno = EINTR;
  }
  return result;
}

// Who cancels a thread, and then closes what it is to read, does not find it alive.
long fail_unless_cancelled() {
  const int error = errno;
  act_on_requests();
  errno = error;
  return -1;
}

// The result of `attempt`, a call that does not wait (EAGAIN: it would), as soon as there is one. `kernel` is
// the call as the program has made it.
template <class Attempt, class Kernel>
long when_ready(int descriptor, short events, Attempt attempt, Kernel kernel) {
  if (!waits_in_weft())
    return kernel();
  act_on_requests();
  descriptor_wait wait(descriptor, events);
  std::optional<door::deadline> until;
  for (;;) {
    const long result = attempt();
    if (result >= 0)
      return result;
    if (errno != EAGAIN)
      return fail_unless_cancelled();
    if (!until) {
      if (is_nonblocking(descriptor))
        return would_wait();
      until = end_of_wait(descriptor, events);
    }
    switch (wait.wait(*until)) { // SWITCH: may resume on another worker
    case wait_end::ready:
      break;
    case wait_end::too_late:
      return would_wait();
    case wait_end::interrupted:
      errno = EINTR;
      return -1;
    case wait_end::closed:
      errno = EBADF;
      return -1;
    case wait_end::unknown:
      return in_kernel(kernel);
    }
  }
}

// For calls that cannot be told not to wait.
template <class Kernel>
long when_it_can_begin(int descriptor, short events, Kernel kernel) {
  return when_ready(
      descriptor, events, [&] { return is_ready(descriptor, events) ? kernel() : would_wait(); }, kernel);
}

// --- transfers ---

// It is no socket.
guess look_at(int descriptor) noexcept {
  struct stat s{};
  const bool is_file =
      ::fstat(descriptor, &s) == 0 && (S_ISREG(s.st_mode) || S_ISDIR(s.st_mode) || S_ISBLK(s.st_mode));
  const guess found = is_file ? guess::file : guess::other;
  note(descriptor, found);
  return found;
}

constexpr int never_waits = MSG_DONTWAIT | MSG_OOB | MSG_ERRQUEUE;

// `of_socket` and `kernel` as when_ready() has them; `of_socket` fails with ENOTSOCK on what is none.
template <class Attempt, class Kernel>
long transfer(int descriptor, short events, Attempt of_socket, Kernel kernel) {
  guess what = waits_in_weft() ? guess_of(descriptor) : guess::file;
  if (what == guess::socket) {
    const long result = when_ready(descriptor, events, of_socket, kernel);
    if (result >= 0 || errno != ENOTSOCK)
      return result;
    what = look_at(descriptor);
  }
  return what == guess::file ? kernel() : when_it_can_begin(descriptor, events, kernel);
}

long receive(int descriptor, void* to, std::size_t bytes, int flags, sockaddr* from, socklen_t* length) {
  const auto kernel = [=] { return libc.recvfrom(descriptor, to, bytes, flags, from, length); };
  if ((flags & never_waits) != 0)
    return kernel();
  if ((flags & MSG_WAITALL) != 0)
    return when_it_can_begin(descriptor, POLLIN, kernel);
  return when_ready(
      descriptor, POLLIN,
      [=] { return libc.recvfrom(descriptor, to, bytes, flags | MSG_DONTWAIT, from, length); }, kernel);
}

// A stream takes a part at a time; the blocking call returns when it has taken all.
class sending {
 public:
  sending(int descriptor, const void* from, std::size_t bytes, int flags, const sockaddr* to,
          socklen_t length) noexcept
      : descriptor_(descriptor), from_(static_cast<const char*>(from)), bytes_(bytes), flags_(flags), to_(to),
        length_(length) {}
  // As attempt() of when_ready().
  long try_rest() {
    const long sent =
        libc.sendto(descriptor_, from_ + done_, bytes_ - done_, flags_ | MSG_DONTWAIT, to_, length_);
    if (sent < 0)
      return sent;
    done_ += static_cast<std::size_t>(sent);
    return done_ == bytes_ || is_nonblocking(descriptor_) ? static_cast<long>(done_) : would_wait();
  }
  // `call(from, bytes)`, for the rest.
  template <class Call>
  long in_kernel(Call call) {
    const long sent = call(from_ + done_, bytes_ - done_);
    done_ += static_cast<std::size_t>(std::max(sent, 0L));
    return sent;
  }
  // Of the whole call, whose last part returned that: an error after a part is the next call's.
  [[nodiscard]] long result(long of_last) const noexcept {
    return done_ != 0 ? static_cast<long>(done_) : of_last;
  }

 private:
  const int descriptor_;
  const char* const from_;
  const std::size_t bytes_;
  const int flags_;
  const sockaddr* const to_;
  const socklen_t length_;
  std::size_t done_ = 0;
};

long send_all(int descriptor, const void* from, std::size_t bytes, int flags, const sockaddr* to,
              socklen_t length) {
  if ((flags & never_waits) != 0)
    return libc.sendto(descriptor, from, bytes, flags, to, length);
  sending s(descriptor, from, bytes, flags, to, length);
  const auto kernel = [&] {
    return s.in_kernel([=](const char* rest, std::size_t left) {
      return libc.sendto(descriptor, rest, left, flags, to, length);
    });
  };
  return s.result(when_ready(descriptor, POLLOUT, [&] { return s.try_rest(); }, kernel));
}

ssize_t read_some(int descriptor, void* to, std::size_t bytes) {
  const auto kernel = [=] { return libc.read(descriptor, to, bytes); };
  if (bytes == 0) // of a socket it takes nothing, where recv(2) takes a datagram
    return kernel();
  return transfer(descriptor, POLLIN, [=] { return libc.recv(descriptor, to, bytes, MSG_DONTWAIT); }, kernel);
}

// Who waits for it in Weft ends with EBADF.
int close_for_all(int descriptor) {
  watch_no_more(descriptor);
  const bool in_runtime =
      self != nullptr && !weft::door::is_in_program(); // a handler, perhaps amid a wait for it
  if (in_runtime || is_child_of_vfork() || (self != nullptr && self->has_own_descriptors))
    return libc.close(descriptor);
  act_on_requests();
  const not_by_libc here; // which would unwind the runtime
  const int before = errno;
  std::error_code error;
  weft::io::close(descriptor, error);
  errno = error ? error.value() : before;
  return error ? -1 : 0;
}

} // namespace
} // namespace weft::pthreads

using namespace weft::pthreads;

// Contexts of all: as POSIX has it. Switches: where they would wait. Cancellation points.
extern "C" {

WEFT_API ssize_t read(int descriptor, void* to, std::size_t bytes) {
  return read_some(descriptor, to, bytes);
}

WEFT_API ssize_t __read_chk(int descriptor, void* to, std::size_t bytes, std::size_t room) {
  return bytes > room ? libc.__read_chk(descriptor, to, bytes, room) : read_some(descriptor, to, bytes);
}

WEFT_API ssize_t write(int descriptor, const void* from, std::size_t bytes) {
  if (bytes == 0)
    return libc.write(descriptor, from, bytes);
  sending s(descriptor, from, bytes, 0, nullptr, 0);
  const auto kernel = [&] {
    return s.in_kernel(
        [=](const char* rest, std::size_t left) { return libc.write(descriptor, rest, left); });
  };
  return s.result(transfer(descriptor, POLLOUT, [&] { return s.try_rest(); }, kernel));
}

WEFT_API ssize_t readv(int descriptor, const iovec* buffers, int count) {
  const auto kernel = [=] { return libc.readv(descriptor, buffers, count); };
  return guess_of(descriptor) == guess::file ? kernel() : when_it_can_begin(descriptor, POLLIN, kernel);
}

WEFT_API ssize_t writev(int descriptor, const iovec* buffers, int count) {
  const auto kernel = [=] { return libc.writev(descriptor, buffers, count); };
  return guess_of(descriptor) == guess::file ? kernel() : when_it_can_begin(descriptor, POLLOUT, kernel);
}

WEFT_API ssize_t recv(int descriptor, void* to, std::size_t bytes, int flags) {
  return receive(descriptor, to, bytes, flags, nullptr, nullptr);
}

WEFT_API ssize_t __recv_chk(int descriptor, void* to, std::size_t bytes, std::size_t room, int flags) {
  return bytes > room ? libc.__recv_chk(descriptor, to, bytes, room, flags)
                      : receive(descriptor, to, bytes, flags, nullptr, nullptr);
}

WEFT_API ssize_t recvfrom(int descriptor, void* to, std::size_t bytes, int flags, sockaddr* from,
                          socklen_t* length) {
  return receive(descriptor, to, bytes, flags, from, length);
}

WEFT_API ssize_t __recvfrom_chk(int descriptor, void* to, std::size_t bytes, std::size_t room, int flags,
                                sockaddr* from, socklen_t* length) {
  return bytes > room ? libc.__recvfrom_chk(descriptor, to, bytes, room, flags, from, length)
                      : receive(descriptor, to, bytes, flags, from, length);
}

WEFT_API ssize_t recvmsg(int descriptor, msghdr* message, int flags) {
  const auto kernel = [=] { return libc.recvmsg(descriptor, message, flags); };
  return (flags & never_waits) != 0 ? kernel() : when_it_can_begin(descriptor, POLLIN, kernel);
}

WEFT_API ssize_t send(int descriptor, const void* from, std::size_t bytes, int flags) {
  return send_all(descriptor, from, bytes, flags, nullptr, 0);
}

WEFT_API ssize_t sendto(int descriptor, const void* from, std::size_t bytes, int flags, const sockaddr* to,
                        socklen_t length) {
  return send_all(descriptor, from, bytes, flags, to, length);
}

WEFT_API ssize_t sendmsg(int descriptor, const msghdr* message, int flags) {
  const auto kernel = [=] { return libc.sendmsg(descriptor, message, flags); };
  return (flags & never_waits) != 0 ? kernel() : when_it_can_begin(descriptor, POLLOUT, kernel);
}

WEFT_API int accept(int descriptor, sockaddr* address, socklen_t* length) {
  return watch(static_cast<int>(
      when_it_can_begin(descriptor, POLLIN, [=] { return long{libc.accept(descriptor, address, length)}; })));
}

WEFT_API int accept4(int descriptor, sockaddr* address, socklen_t* length, int flags) {
  return watch(static_cast<int>(when_it_can_begin(
      descriptor, POLLIN, [=] { return long{libc.accept4(descriptor, address, length, flags)}; })));
}

WEFT_API int connect(int descriptor, const sockaddr* to, socklen_t bytes) {
  if (!waits_in_weft() || is_nonblocking(descriptor))
    return libc.connect(descriptor, to, bytes);
  act_on_requests();
  const weft::door::deadline until = end_of_wait(descriptor, POLLOUT);
  int error = ECANCELED; // called off for nothing: it goes on
  while (error == ECANCELED) {
    switch (
        wait_for_connection(descriptor, to, bytes, until, error)) { // SWITCH: may resume on another worker
    case wait_end::ready:
      break;
    case wait_end::too_late:
      error = EINPROGRESS;
      break;
    case wait_end::interrupted:
      error = EINTR;
      break;
    case wait_end::closed:
      error = EBADF;
      break;
    case wait_end::unknown:
      return libc.connect(descriptor, to, bytes);
    }
  }
  if (error == 0)
    return 0;
  errno = error;
  return -1;
}

// The kernel's business, but cancellation points.
WEFT_API pid_t waitpid(pid_t child, int* status, int options) {
  act_on_requests();
  return static_cast<pid_t>(in_kernel([=] { return long{libc.waitpid(child, status, options)}; }));
}

WEFT_API pid_t wait(int* status) {
  act_on_requests();
  return static_cast<pid_t>(in_kernel([=] { return long{libc.wait(status)}; }));
}

WEFT_API int waitid(idtype_t which, id_t id, siginfo_t* info, int options) {
  act_on_requests();
  return static_cast<int>(in_kernel([=] { return long{libc.waitid(which, id, info, options)}; }));
}

WEFT_API int close(int descriptor) {
  return close_for_all(descriptor);
}

WEFT_API int __close(int descriptor) {
  return close_for_all(descriptor);
}

} // extern "C"
