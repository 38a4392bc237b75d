// SPDX-License-Identifier: MIT
// Waits for descriptors suspend the thread: for one, an epoll set among them, or for several, which are put
// into an epoll set as long as the call waits. What cannot be waited for so leaves the worker before it calls
// libc (weft/preempt/libc_waits.cpp), whose functions of that name a preload of this library would hide.
#include "front/pthreads/descriptor_wait.hpp"
#include "front/pthreads/exported.hpp"
#include "front/pthreads/libc.hpp"
#include "front/pthreads/libc_cancellation.hpp"
#include "front/pthreads/requests.hpp"
#include "weft/door/deadline.hpp"
#include "weft/io.hpp"

#include <algorithm>
#include <array>
#include <system_error>

namespace weft::pthreads {
namespace {

constexpr std::int64_t ns_a_millisecond = door::ns_a_second / 1000;

// Negative: for good, as in poll(2).
door::deadline end_of(int timeout) noexcept {
  return timeout < 0 ? door::no_deadline : door::now() + timeout * ns_a_millisecond;
}

door::deadline end_of(const timespec* length) noexcept {
  if (length == nullptr)
    return door::no_deadline;
  const std::int64_t ns = door::ns_of(*length), now = door::now();
  return ns < door::no_deadline - 1 - now ? now + ns : door::no_deadline;
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
  descriptor_wait wait(descriptor, events);
  for (;;) {
    const int found = look(0);
    if (found != 0 || door::passed(end))
      return found;
    switch (wait.wait(end)) { // SWITCH: may resume on another worker
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

// Several descriptors as one, in scope. Each costs a system call, so not for very many.
class together {
 public:
  static constexpr nfds_t most = 64;
  together() = default;
  ~together() {
    const errno_kept as_it_was;
    std::error_code none;
    if (set_ >= 0)
      io::close(set_, none); // SWITCH: may resume on another worker
  }
  together(const together&) = delete;
  together& operator=(const together&) = delete;
  // False: files, which are always ready, the same one twice, or there is no descriptor to be had.
  [[nodiscard]] bool take(const pollfd* descriptors, nfds_t count) noexcept {
    const errno_kept as_it_was;
    set_ = ::epoll_create1(EPOLL_CLOEXEC);
    for (const pollfd* p = descriptors; set_ >= 0 && p != descriptors + count; ++p) {
      epoll_event wanted{};
      wanted.events = static_cast<unsigned short>(p->events); // the same numbers
      if (p->fd >= 0 && ::epoll_ctl(set_, EPOLL_CTL_ADD, p->fd, &wanted) != 0)
        return false;
    }
    return set_ >= 0;
  }
  [[nodiscard]] int descriptor() const noexcept { return set_; }

 private:
  int set_ = -1;
};

// `look(timeout)` is libc's call for these.
template <class Look>
int look_at_several(const pollfd* descriptors, nfds_t count, door::deadline end, Look look) {
  act_on_requests();
  const int found = look(0);
  if (found != 0 || door::passed(end))
    return found;
  if (count <= together::most) {
    const not_by_libc alone; // whom libc cancels in a look would leave the set behind
    together all;
    if (all.take(descriptors, count))
      return look_until_ready(all.descriptor(), POLLIN, end, look);
  }
  return look(milliseconds_until(end));
}

int poll_until(pollfd* descriptors, nfds_t count, door::deadline end) {
  const auto look = [=](int now) { return libc.poll(descriptors, count, now); };
  return count == 1 && descriptors->fd >= 0
             ? look_until_ready(descriptors->fd, descriptors->events, end, look)
             : look_at_several(descriptors, count, end, look);
}

int poll_in_weft(pollfd* descriptors, nfds_t count, int timeout) {
  if (!waits_in_weft() || timeout == 0) {
    act_on_requests();
    return libc.poll(descriptors, count, timeout);
  }
  if (count == 0)
    return sleep_for(door::timespec_of(timeout < 0 ? INT64_MAX : timeout * ns_a_millisecond));
  return poll_until(descriptors, count, end_of(timeout));
}

bool has_member(const fd_set* set, int descriptor) noexcept {
  return set != nullptr && FD_ISSET(descriptor, set);
}

// How many there are in the sets; more than there is room for: too many.
nfds_t list_members(int count, const fd_set* read, const fd_set* write, const fd_set* except,
                    std::array<pollfd, together::most>& list) noexcept {
  nfds_t found = 0;
  for (int d = 0; d < count && found <= list.size(); ++d) {
    const int events = (has_member(read, d) ? POLLIN : 0) | (has_member(write, d) ? POLLOUT : 0) |
                       (has_member(except, d) ? POLLPRI : 0);
    if (events == 0)
      continue;
    if (found < list.size())
      list[found] = {d, static_cast<short>(events), 0};
    ++found;
  }
  return found;
}

// A moment of each kind of poll tells what select() would: it fills the sets itself.
int select_in_weft(int count, fd_set* read, fd_set* write, fd_set* except, timeval* limit) {
  std::array<pollfd, together::most> list;
  const nfds_t members =
      count >= 0 && count <= FD_SETSIZE ? list_members(count, read, write, except, list) : 0;
  const bool is_length = limit == nullptr || (limit->tv_sec >= 0 && limit->tv_usec >= 0 &&
                                              limit->tv_usec < 1'000'000 && limit->tv_sec < INT_MAX);
  if (members == 0 || members > list.size() || !is_length)
    return libc.select(count, read, write, except, limit);
  const door::deadline end = limit == nullptr ? door::no_deadline
                                              : door::now() + limit->tv_sec * door::ns_a_second +
                                                    std::int64_t{limit->tv_usec} * 1000;
  const int found = poll_until(list.data(), members, end); // SWITCH: may resume on another worker
  if (limit != nullptr) {                                  // as the kernel does
    const std::int64_t left = std::max<std::int64_t>(end - door::now(), 0);
    *limit = {left / door::ns_a_second, left % door::ns_a_second / 1000};
  }
  if (found < 0)
    return found;
  timeval at_once{};
  return libc.select(count, read, write, except, found == 0 ? &at_once : limit);
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
  if (waits_in_weft() && mask == nullptr && count != 0 && (limit == nullptr || weft::door::is_valid(*limit)))
    return poll_until(descriptors, count, end_of(limit));
  act_on_requests();
  return libc.ppoll(descriptors, count, limit, mask);
}

WEFT_API int __ppoll_chk(pollfd* descriptors, nfds_t count, const timespec* limit, const sigset_t* mask,
                         std::size_t bytes) {
  act_on_requests();
  return libc.__ppoll_chk(descriptors, count, limit, mask, bytes);
}

WEFT_API int select(int count, fd_set* read, fd_set* write, fd_set* except, timeval* limit) {
  if (waits_in_weft())
    return select_in_weft(count, read, write, except, limit);
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
