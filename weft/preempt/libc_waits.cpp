// SPDX-License-Identifier: MIT
// Waits of libc's that a signal would end with EINTR, whatever SA_RESTART says. A thread of Weft leaves its
// worker before it makes such a call, on its own kernel thread, where handlers of the program's end it as
// ever. In libweft.so alone: what is linked to libweft.a makes libc's calls, and keeps the worker meanwhile.
//
// libc's own functions are looked up when the library is loaded, as it may be loaded before libc's names are
// reached. A zero limit, and one too short for a hand-over, are libc's business from the start.
#include <dlfcn.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "weft/base/export.hpp"
#include "weft/os/clock.hpp"
#include "weft/os/timespec.hpp"
#include "weft/preempt/cut_calls.hpp"
#include "weft/preempt/leaving.hpp"

namespace {

using weft::os::is_valid;
using weft::os::ns_of;
using weft::os::time_left;
using weft::os::timespec_of;
using weft::preempt::leave_before_wait;
using weft::preempt::tick_mark;

// A function of libc's. Ownership: constant once it is known; all who look it up find the same.
template <class Function>
class libc_function {
 public:
  constexpr explicit libc_function(const char* name) noexcept : name_(name) {}
  [[nodiscard]] Function* get() noexcept {
    Function* known = known_.load(std::memory_order_relaxed); // relaxed: code, there since before the lookup
    if (known == nullptr) {
      known = reinterpret_cast<Function*>(look_up());
      known_.store(known, std::memory_order_relaxed);
    }
    return known;
  }

 private:
  // Where libc stands before this library in the order of lookups there is no next.
  [[nodiscard]] void* look_up() const noexcept {
    if (void* const next = ::dlsym(RTLD_NEXT, name_))
      return next;
    void* const libc = ::dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
    return libc != nullptr ? ::dlsym(libc, name_) : nullptr;
  }

  const char* name_;
  std::atomic<Function*> known_{nullptr};
};

using poll_function = int(pollfd*, nfds_t, int);
using ppoll_function = int(pollfd*, nfds_t, const timespec*, const sigset_t*);
using poll_chk_function = int(pollfd*, nfds_t, int, std::size_t);
using ppoll_chk_function = int(pollfd*, nfds_t, const timespec*, const sigset_t*, std::size_t);
using select_function = int(int, fd_set*, fd_set*, fd_set*, timeval*);
using epoll_wait_function = int(int, epoll_event*, int, int);
using sleep_function = unsigned(unsigned);
using usleep_function = int(useconds_t);
using nanosleep_function = int(const timespec*, timespec*);
using clock_nanosleep_function = int(clockid_t, int, const timespec*, timespec*);

constinit libc_function<poll_function> libc_poll{"poll"};
constinit libc_function<ppoll_function> libc_ppoll{"ppoll"};
constinit libc_function<poll_chk_function> libc_poll_chk{"__poll_chk"};
constinit libc_function<ppoll_chk_function> libc_ppoll_chk{"__ppoll_chk"};
constinit libc_function<select_function> libc_select{"select"};
constinit libc_function<epoll_wait_function> libc_epoll_wait{"epoll_wait"};
constinit libc_function<sleep_function> libc_sleep{"sleep"};
constinit libc_function<usleep_function> libc_usleep{"usleep"};
constinit libc_function<nanosleep_function> libc_nanosleep{"nanosleep"};
constinit libc_function<clock_nanosleep_function> libc_clock_nanosleep{"clock_nanosleep"};

[[gnu::constructor]] void look_all_up() noexcept {
  static_cast<void>(libc_poll.get());
  static_cast<void>(libc_ppoll.get());
  static_cast<void>(libc_poll_chk.get());
  static_cast<void>(libc_ppoll_chk.get());
  static_cast<void>(libc_select.get());
  static_cast<void>(libc_epoll_wait.get());
  static_cast<void>(libc_sleep.get());
  static_cast<void>(libc_usleep.get());
  static_cast<void>(libc_nanosleep.get());
  static_cast<void>(libc_clock_nanosleep.get());
}

constexpr std::int64_t worth_leaving_ns = 100'000; // several times what a hand-over takes

bool is_long(const timespec* limit) noexcept {
  return limit == nullptr || ns_of(*limit) >= worth_leaving_ns;
}

// None of these is noexcept: a kernel thread that is cancelled in the call unwinds through it.

// Makes the call again where a tick has ended it. A cooperative thread has left its worker and is not ticked;
// a preemptible one is, if it found no kernel thread to go to.
template <class Call>
int despite_ticks(Call call) {
  for (;;) {
    const tick_mark before;
    const int result = call();
    if (result >= 0 || errno != EINTR || !before.ticked())
      return result;
  }
}

// The rest of a sleep, for the program, if a signal of its own has ended it.
int sleep_for(const timespec& length, timespec* rest) {
  const time_left left(ns_of(length));
  const int result = despite_ticks([&] {
    const timespec now = timespec_of(left.ns());
    return libc_nanosleep.get()(&now, nullptr);
  });
  if (result != 0 && errno == EINTR && rest != nullptr)
    *rest = timespec_of(left.ns());
  return result;
}

// ppoll(2)'s: null is for good.
template <class Call>
int wait_for_limit(const timespec* limit, Call call) {
  if (limit == nullptr || !is_valid(*limit))
    return despite_ticks([&] { return call(limit); });
  const time_left left(ns_of(*limit));
  return despite_ticks([&] {
    const timespec now = timespec_of(left.ns());
    return call(&now);
  });
}

// poll(2)'s and epoll_wait(2)'s: negative is for good.
template <class Call>
int wait_for_milliseconds(int timeout, Call call) {
  if (timeout <= 0)
    return despite_ticks([&] { return call(timeout); });
  const time_left left(timeout * weft::os::ns_a_millisecond);
  return despite_ticks([&] { return call(left.milliseconds()); });
}

} // namespace

// What is ready at once costs no hand-over: these look first. Contexts of all: as libc's. Switches: no
// thread.
extern "C" {

WEFT_API int poll(pollfd* descriptors, nfds_t count, int timeout) {
  if (timeout != 0) {
    if (const int ready = libc_poll.get()(descriptors, count, 0); ready != 0)
      return ready;
    leave_before_wait(__builtin_return_address(0));
  }
  return wait_for_milliseconds(timeout, [=](int now) { return libc_poll.get()(descriptors, count, now); });
}

WEFT_API int __poll_chk(pollfd* descriptors, nfds_t count, int timeout, std::size_t bytes) {
  if (timeout != 0)
    leave_before_wait(__builtin_return_address(0));
  return wait_for_milliseconds(timeout,
                               [=](int now) { return libc_poll_chk.get()(descriptors, count, now, bytes); });
}

WEFT_API int ppoll(pollfd* descriptors, nfds_t count, const timespec* limit, const sigset_t* mask) {
  if (is_long(limit))
    leave_before_wait(__builtin_return_address(0));
  return wait_for_limit(limit,
                        [=](const timespec* now) { return libc_ppoll.get()(descriptors, count, now, mask); });
}

WEFT_API int __ppoll_chk(pollfd* descriptors, nfds_t count, const timespec* limit, const sigset_t* mask,
                         std::size_t bytes) {
  if (is_long(limit))
    leave_before_wait(__builtin_return_address(0));
  return wait_for_limit(
      limit, [=](const timespec* now) { return libc_ppoll_chk.get()(descriptors, count, now, mask, bytes); });
}

WEFT_API int select(int count, fd_set* read, fd_set* write, fd_set* except, timeval* limit) {
  if (limit == nullptr || limit->tv_sec > 0 || limit->tv_usec * 1000 >= worth_leaving_ns)
    leave_before_wait(__builtin_return_address(0));
  // What is left of the limit stands in it then.
  return despite_ticks([=] { return libc_select.get()(count, read, write, except, limit); });
}

WEFT_API int epoll_wait(int epoll, epoll_event* events, int most, int timeout) {
  if (timeout != 0) {
    if (const int ready = libc_epoll_wait.get()(epoll, events, most, 0); ready != 0)
      return ready;
    leave_before_wait(__builtin_return_address(0));
  }
  return wait_for_milliseconds(timeout,
                               [=](int now) { return libc_epoll_wait.get()(epoll, events, most, now); });
}

WEFT_API unsigned sleep(unsigned seconds) {
  if (seconds == 0)
    return libc_sleep.get()(seconds);
  leave_before_wait(__builtin_return_address(0));
  const int before = errno; // which a sleep that is ended leaves as it was
  timespec rest{};
  if (sleep_for({static_cast<time_t>(seconds), 0}, &rest) == 0)
    return 0;
  errno = before;
  return static_cast<unsigned>(rest.tv_sec);
}

WEFT_API int usleep(useconds_t microseconds) {
  const std::int64_t ns = microseconds * std::int64_t{1000};
  if (ns < worth_leaving_ns)
    return libc_usleep.get()(microseconds);
  leave_before_wait(__builtin_return_address(0));
  return sleep_for(timespec_of(ns), nullptr);
}

WEFT_API int nanosleep(const timespec* length, timespec* rest) {
  if (length == nullptr || !is_valid(*length) || !is_long(length))
    return libc_nanosleep.get()(length, rest);
  leave_before_wait(__builtin_return_address(0));
  return sleep_for(*length, rest);
}

WEFT_API int clock_nanosleep(clockid_t clock, int flags, const timespec* until, timespec* rest) {
  timespec now{};
  const bool is_moment = (flags & TIMER_ABSTIME) != 0 && ::clock_gettime(clock, &now) == 0;
  if (until != nullptr && ns_of(*until) - (is_moment ? ns_of(now) : 0) >= worth_leaving_ns)
    leave_before_wait(__builtin_return_address(0));
  timespec kept{}, left{};
  timespec* const says_rest = rest != nullptr ? rest : &kept;
  for (const timespec* next = until;;) {
    const tick_mark before;
    const int error = libc_clock_nanosleep.get()(clock, flags, next, says_rest);
    if (error != EINTR || !before.ticked())
      return error;
    if ((flags & TIMER_ABSTIME) == 0) {
      left = *says_rest;
      next = &left;
    }
  }
}

} // extern "C"
