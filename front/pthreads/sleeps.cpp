// SPDX-License-Identifier: MIT
// Sleeps suspend the thread alone.
#include "front/pthreads/exported.hpp"
#include "front/pthreads/libc.hpp"
#include "front/pthreads/requests.hpp"
#include "weft/door/deadline.hpp"

#include <cstdint>

namespace weft::pthreads {
namespace {

using door::is_valid;
using door::ns_a_second;
using door::ns_of;
using door::timespec_of;

timespec now_of(clockid_t clock) noexcept {
  timespec now{};
  ::clock_gettime(clock, &now);
  return now;
}

timespec after(std::int64_t ns) noexcept {
  const std::int64_t now = ns_of(now_of(CLOCK_MONOTONIC));
  return timespec_of(ns > INT64_MAX - now ? INT64_MAX : now + ns);
}

// 0, or EINTR: a handler has run. Of a thread of ours.
int sleep_until(const timespec& moment, clockid_t clock) {
  static constinit const futex_word never{0};
  for (;;) {
    if (act_on_requests())
      return EINTR;
    const int result =
        wait_unless_asked(never, 0, {.until = &moment, .clock = clock, .kind = door::wait_kind::sleep});
    if (result == ETIMEDOUT)
      return 0;
  }
}

int sleep_for(std::int64_t ns, std::int64_t* rest) {
  const timespec until = after(ns);
  const int result = sleep_until(until, CLOCK_MONOTONIC);
  if (rest != nullptr)
    *rest = result == 0 ? 0 : ns_of(until) - ns_of(now_of(CLOCK_MONOTONIC));
  return result;
}

} // namespace

int exported::nanosleep(const timespec* length, timespec* rest) {
  if (self == nullptr || length == nullptr || !is_valid(*length))
    return libc.nanosleep(length, rest);
  std::int64_t left = 0;
  const int result = sleep_for(ns_of(*length), &left);
  if (result == 0)
    return 0;
  if (rest != nullptr)
    *rest = timespec_of(left > 0 ? left : 0);
  errno = result;
  return -1;
}

void exported::yield() noexcept {
  libc.sched_yield();
}

} // namespace weft::pthreads

using namespace weft::pthreads;

extern "C" {

WEFT_API int nanosleep(const timespec* length, timespec* rest) {
  return exported::nanosleep(length, rest);
}

WEFT_API int clock_nanosleep(clockid_t clock, int flags, const timespec* length, timespec* rest) {
  const bool has_moment = (flags & TIMER_ABSTIME) != 0;
  if (self == nullptr || length == nullptr || !is_valid(*length) ||
      (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC))
    return libc.clock_nanosleep(clock, flags, length, rest);
  if (has_moment)
    return sleep_until(*length, clock);
  std::int64_t left = 0;
  const int result = sleep_for(ns_of(*length), &left);
  if (result != 0 && rest != nullptr)
    *rest = timespec_of(left > 0 ? left : 0);
  return result;
}

WEFT_API int usleep(useconds_t microseconds) {
  if (self == nullptr)
    return libc.usleep(microseconds);
  const int result = sleep_for(std::int64_t{microseconds} * 1000, nullptr);
  if (result == 0)
    return 0;
  errno = result;
  return -1;
}

WEFT_API unsigned sleep(unsigned seconds) {
  if (self == nullptr)
    return libc.sleep(seconds);
  std::int64_t left = 0;
  const errno_kept as_it_was;
  return sleep_for(seconds * ns_a_second, &left) == 0
             ? 0
             : static_cast<unsigned>((left + ns_a_second - 1) / ns_a_second);
}

WEFT_API int sched_yield() noexcept {
  return libc.sched_yield();
}

// The header makes sched_yield() of this name; older programs have it.
WEFT_API int old_pthread_yield() noexcept asm("pthread_yield");
int old_pthread_yield() noexcept {
  return libc.sched_yield();
}

} // extern "C"
