// SPDX-License-Identifier: MIT
#include "weft/preempt/cut_transfers.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>

#include "weft/os/clock.hpp"
#include "weft/os/timespec.hpp"
#include "weft/preempt/cut_calls.hpp"

namespace weft::preempt {
namespace {

using arch::returned_call;

long address_of(const void* what) noexcept {
  return reinterpret_cast<long>(what);
}

// How a call says where the bytes are: an address and a length, a vector and its length, or a msghdr.
enum class form : std::uint8_t { bytes, vector, message };

struct transfer {
  long number;
  form is;
  bool receives;
  unsigned flags; // their place among the arguments; 0: it has none
};
constexpr transfer transfers[] = {
    {SYS_write, form::bytes, false, 0},   {SYS_writev, form::vector, false, 0},
    {SYS_sendto, form::bytes, false, 3},  {SYS_sendmsg, form::message, false, 2},
    {SYS_read, form::bytes, true, 0},     {SYS_readv, form::vector, true, 0},
    {SYS_recvfrom, form::bytes, true, 3}, {SYS_recvmsg, form::message, true, 2},
};

const transfer* find_transfer(long number) noexcept {
  const auto* const found =
      std::ranges::find_if(transfers, [=](const transfer& t) { return t.number == number; });
  return found != std::end(transfers) ? found : nullptr;
}

constexpr long waits_or_peeks = MSG_WAITALL | MSG_PEEK;

bool accepts(long number) noexcept {
#if defined(SYS_accept)
  if (number == SYS_accept)
    return true;
#endif
  return number == SYS_accept4;
}

// The buffers of a vector that are not done, some at a time: a handler's stack has no room for all.
class rest_of_vector {
 public:
  rest_of_vector(const iovec* first, std::size_t count) noexcept : next_(first), left_(count) {}

  void skip(std::size_t bytes) noexcept {
    while (left_ != 0 && bytes >= next_->iov_len - done_) {
      bytes -= next_->iov_len - done_;
      ++next_;
      --left_;
      done_ = 0;
    }
    done_ += bytes;
  }
  // Empty: all is done.
  std::size_t take() noexcept {
    const std::size_t count = std::min(left_, some_.size());
    std::copy_n(next_, count, some_.begin());
    if (count != 0) {
      some_[0].iov_base = static_cast<std::byte*>(some_[0].iov_base) + done_;
      some_[0].iov_len -= done_;
    }
    return count;
  }
  iovec* some() noexcept { return some_.data(); }

 private:
  const iovec* next_;
  std::size_t left_;
  std::size_t done_ = 0; // of the first
  std::array<iovec, 8> some_{};
};

// What a call was asked to move.
struct asked {
  const transfer& how;
  iovec single; // of form::bytes
  const iovec* first;
  std::size_t count;

  asked(const returned_call& c, const transfer& t) noexcept
      : how(t), single{reinterpret_cast<void*>(c.arguments[1]), static_cast<std::size_t>(c.arguments[2])} {
    if (t.is == form::bytes) {
      first = &single;
      count = 1;
    } else if (t.is == form::vector) {
      first = reinterpret_cast<const iovec*>(c.arguments[1]);
      count = static_cast<std::size_t>(c.arguments[2]);
    } else {
      const auto& m = *reinterpret_cast<const msghdr*>(c.arguments[1]);
      first = m.msg_iov;
      count = m.msg_iovlen;
    }
  }
  asked(const asked&) = delete;

  [[nodiscard]] std::size_t bytes() const noexcept {
    std::size_t sum = 0;
    for (std::size_t i = 0; i < count; ++i)
      sum += first[i].iov_len;
    return sum;
  }
};

long flags_of(const returned_call& c, const transfer& t) noexcept {
  return t.flags != 0 ? c.arguments[t.flags] : 0;
}

// One call for some of the buffers, with these flags where it is on a socket.
long move_some(const returned_call& c, const transfer& t, iovec* some, std::size_t count, bool on_socket,
               long flags) noexcept {
  const long descriptor = c.arguments[0];
  if (!on_socket && t.flags == 0) {
    const std::array<long, 6> arguments{descriptor, address_of(some), static_cast<long>(count), 0, 0, 0};
    return t.receives ? arch::system_call<SYS_readv>(arguments) : arch::system_call<SYS_writev>(arguments);
  }
  msghdr message{};
  message.msg_iov = some;
  message.msg_iovlen = count;
  if (t.number == SYS_sendto) { // to whom, if it says so
    message.msg_name = reinterpret_cast<void*>(c.arguments[4]);
    message.msg_namelen = static_cast<socklen_t>(c.arguments[5]);
  }
  const std::array<long, 6> arguments{descriptor, address_of(&message), flags, 0, 0, 0};
  return t.receives ? arch::system_call<SYS_recvmsg>(arguments) : arch::system_call<SYS_sendmsg>(arguments);
}

// What goes beside the bytes, addresses and control data, went with the first part.
long move_rest(const returned_call& c, const transfer& t) noexcept {
  const asked all(c, t);
  rest_of_vector rest(all.first, all.count);
  rest.skip(static_cast<std::size_t>(c.result));
  long done = c.result;
  while (const std::size_t count = rest.take()) {
    const long moved = move_some(c, t, rest.some(), count, false, flags_of(c, t));
    if (moved <= 0)
      break; // an error, the end, or a signal of the program's: what is done is done
    done += moved;
    rest.skip(static_cast<std::size_t>(moved));
  }
  return done;
}

// --- within the limit of a socket ---

// 1: it is ready. 0: the time has passed. Else an error: EINTR for a signal of the program's.
long await_socket(long descriptor, bool receives, const os::time_left& left) noexcept {
  for (;;) {
    pollfd wanted{static_cast<int>(descriptor), static_cast<short>(receives ? POLLIN : POLLOUT), 0};
    timespec longest = os::timespec_of(left.ns());
    const tick_mark before;
    const long found =
        arch::system_call<SYS_ppoll, true>({address_of(&wanted), 1, address_of(&longest), 0, 0, 0});
    if (found != -EINTR || !before.ticked())
      return found;
  }
}

// The first part as it was asked for: what goes beside the bytes goes with it.
long move_first(returned_call c, const transfer& t, const asked& all) noexcept {
  const long flags = flags_of(c, t) | MSG_DONTWAIT;
  if (t.flags == 0) {
    rest_of_vector rest(all.first, all.count);
    const std::size_t count = rest.take();
    return move_some(c, t, rest.some(), count, true, flags);
  }
  c.arguments[t.flags] = flags;
  switch (t.number) {
  case SYS_sendto:
    return arch::system_call<SYS_sendto>(c.arguments);
  case SYS_sendmsg:
    return arch::system_call<SYS_sendmsg>(c.arguments);
  case SYS_recvfrom:
    return arch::system_call<SYS_recvfrom>(c.arguments);
  default:
    return arch::system_call<SYS_recvmsg>(c.arguments);
  }
}

// As the kernel does it: what has been moved when the time is over, EAGAIN if it is nothing.
long move_in_time(const returned_call& c, const transfer& t, const os::time_left& left) noexcept {
  const asked all(c, t);
  const bool moves_all = is_of_parts(c.number, c.arguments[2], c.arguments[3]);
  rest_of_vector rest(all.first, all.count);
  long done = std::max(c.result, 0L);
  rest.skip(static_cast<std::size_t>(done));
  while (const std::size_t count = rest.take()) {
    const long ready = await_socket(c.arguments[0], t.receives, left);
    if (ready <= 0)
      return done != 0 ? done : ready == 0 ? -EAGAIN : ready;
    const long moved = done == 0 ? move_first(c, t, all)
                                 : move_some(c, t, rest.some(), count, true, flags_of(c, t) | MSG_DONTWAIT);
    if (moved == -EAGAIN)
      continue; // somebody was faster
    if (moved <= 0 || !moves_all)
      return done != 0 ? done : moved;
    done += moved;
    rest.skip(static_cast<std::size_t>(moved));
  }
  return done;
}

long accept_in_time(const returned_call& c, const os::time_left& left) noexcept {
  const long ready = await_socket(c.arguments[0], true, left);
  if (ready <= 0)
    return ready == 0 ? -EAGAIN : ready;
  auto arguments = c.arguments;
  if (c.number != SYS_accept4)
    arguments[3] = 0;                               // flags, which accept(2) has not
  return arch::system_call<SYS_accept4>(arguments); // if somebody was faster, its time begins again
}

} // namespace

bool is_of_parts(long number, long third, long fourth) noexcept {
  switch (number) {
  case SYS_write:
  case SYS_writev:
  case SYS_sendto:
  case SYS_sendmsg:
    return true;
  case SYS_recvfrom:
    return (fourth & waits_or_peeks) == MSG_WAITALL;
  case SYS_recvmsg:
    return (third & waits_or_peeks) == MSG_WAITALL;
  default:
    return false;
  }
}

bool peeks_at_all(long number, long third, long fourth) noexcept {
  const long flags = number == SYS_recvfrom ? fourth : number == SYS_recvmsg ? third : 0;
  return (flags & waits_or_peeks) == waits_or_peeks;
}

bool heeds_limit_of_socket(long number) noexcept {
  return accepts(number) || find_transfer(number) != nullptr;
}

std::optional<std::int64_t> limit_of_socket(long number, long descriptor) noexcept {
  const transfer* const t = find_transfer(number);
  const bool receives = t == nullptr || t->receives;
  timeval limit{};
  socklen_t length = sizeof limit;
  if (arch::system_call<SYS_getsockopt>({descriptor, SOL_SOCKET, receives ? SO_RCVTIMEO : SO_SNDTIMEO,
                                         address_of(&limit), address_of(&length), 0}) != 0 ||
      (limit.tv_sec == 0 && limit.tv_usec == 0))
    return std::nullopt;
  return os::ns_of({limit.tv_sec, limit.tv_usec * 1000});
}

bool is_part(const returned_call& c) noexcept {
  return c.result > 0 && is_of_parts(c.number, c.arguments[2], c.arguments[3]) &&
         static_cast<std::size_t>(c.result) < asked(c, *find_transfer(c.number)).bytes();
}

long move_on(const returned_call& c, std::int64_t since) noexcept {
  const auto limit = limit_of_socket(c.number, c.arguments[0]);
  const os::time_left left(limit.value_or(INT64_MAX), since != 0 ? since : os::now_ns());
  if (accepts(c.number))
    return accept_in_time(c, left);
  const transfer& t = *find_transfer(c.number);
  return limit || c.result <= 0 ? move_in_time(c, t, left) : move_rest(c, t);
}

} // namespace weft::preempt
