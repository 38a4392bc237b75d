// SPDX-License-Identifier: MIT
// Waits for one descriptor, an epoll set among them, suspend the thread. Those for several leave the worker
// before they call libc (weft/preempt/libc_waits.cpp), whose functions of that name a preload of this library
// would hide.
#include "front/pthreads/descriptor_wait.hpp"
#include "front/pthreads/exported.hpp"
#include "front/pthreads/libc.hpp"
#include "front/pthreads/requests.hpp"
#include "weft/door/deadline.hpp"

#include <algorithm>

namespace weft::pthreads {
namespace {

constexpr std::int64_t ns_a_millisecond = door::ns_a_second / 1000;

// Negative: for good, as in poll(2).
door::deadline end_of(int timeout) noexcept {
  return timeout < 0 ? door::no_deadline : door::now() + timeout * ns_a_millisecond;
}

int milliseconds_until(door::deadline end) noexcept {
  if (end == door::no_deadline)
    return -1;
  const std::int64_t left = (end - door::now() + ns_a_millisecond - 1) / ns_a_millisecond;
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, INT_MAX));
}

// `look(timeout)` is libc's call; `descriptor` is what it waits for.
template <class Look>
int look_until_ready(int descriptor, short events, door::deadline end, Look look) {
  act_on_requests();
  for (;;) {
    const int found = look(0);
    if (found != 0 || door::passed(end))
      return found;
    switch (wait_for(descriptor, events, end)) { // SWITCH: may resume on another worker
    case wait_end::ready:
    case wait_end::closed: // the look tells
      break;
    case wait_end::too_late:
      return look(0);
    case wait_end::interrupted:
      errno = EINTR;
      return -1;
    case wait_end::unknown:
      return look(milliseconds_until(end));
    }
  }
}

// A sleep, by a poll of nothing.
int sleep_for(const timespec& length) {
  return exported::nanosleep(&length, nullptr);
}

int poll_in_weft(pollfd* descriptors, nfds_t count, int timeout) {
  if (!waits_in_weft() || timeout == 0 || count > 1 || (count == 1 && descriptors->fd < 0)) {
    act_on_requests();
    return libc.poll(descriptors, count, timeout);
  }
  if (count == 0)
    return sleep_for(door::timespec_of(timeout < 0 ? INT64_MAX : timeout * ns_a_millisecond));
  return look_until_ready(descriptors->fd, descriptors->events, end_of(timeout),
                          [=](int now) { return libc.poll(descriptors, count, now); });
}

} // namespace
} // namespace weft::pthreads

using namespace weft::pthreads;

extern "C" {

WEFT_API int poll(pollfd* descriptors, nfds_t count, int timeout) {
  return poll_in_weft(descriptors, count, timeout);
}

WEFT_API int __poll_chk(pollfd* descriptors, nfds_t count, int timeout, std::size_t bytes) {
  if (bytes / sizeof *descriptors < count)
    return libc.__poll_chk(descriptors, count, timeout, bytes); // which ends the process
  return poll_in_weft(descriptors, count, timeout);
}

WEFT_API int ppoll(pollfd* descriptors, nfds_t count, const timespec* limit, const sigset_t* mask) {
  act_on_requests();
  return libc.ppoll(descriptors, count, limit, mask);
}

WEFT_API int __ppoll_chk(pollfd* descriptors, nfds_t count, const timespec* limit, const sigset_t* mask,
                         std::size_t bytes) {
  act_on_requests();
  return libc.__ppoll_chk(descriptors, count, limit, mask, bytes);
}

WEFT_API int select(int count, fd_set* read, fd_set* write, fd_set* except, timeval* limit) {
  act_on_requests();
  return libc.select(count, read, write, except, limit);
}

WEFT_API int epoll_wait(int epoll, epoll_event* events, int most, int timeout) {
  if (!waits_in_weft() || timeout == 0) {
    act_on_requests();
    return libc.epoll_wait(epoll, events, most, timeout);
  }
  return look_until_ready(epoll, POLLIN, end_of(timeout),
                          [=](int now) { return libc.epoll_wait(epoll, events, most, now); });
}

} // extern "C"
