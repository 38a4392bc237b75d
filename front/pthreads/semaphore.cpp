// SPDX-License-Identifier: MIT
// sem_...: glibc's word with the value. A post may come in the handler of a signal.
#include "front/pthreads/libc.hpp"
#include "front/pthreads/limit.hpp"
#include "front/pthreads/requests.hpp"
#include "front/pthreads/told.hpp"

#include <climits>

namespace weft::pthreads {
namespace {

bool try_take(futex_word& value) noexcept {
  std::uint32_t seen = value.load_relaxed(); // relaxed: the compare-and-swap tells
  while (seen != 0) {
    if (value.cas_weak_acquire(seen, seen - 1)) // (P1) pairs with the release in post()
      return true;
  }
  return false;
}

// 0, or an errno.
int take(futex_word& value, const limit& until) {
  act_on_requests();
  if (try_take(value))
    return 0;
  for (;;) {
    if (const int error = until.error())
      return error;
    const int result = wait_unless_asked(
        value, 0, {.until = until.until, .clock = until.clock, .kind = door::wait_kind::semaphore});
    if (try_take(value)) {
      act_after_wait();
      return 0;
    }
    // As futex(2): one with a limit of time is not restarted.
    if (result == ECANCELED && act_on_requests() && (until.until != nullptr || self->handler_ends_calls))
      return EINTR;
    if (result == EINTR || result == ETIMEDOUT || result == ENOMEM)
      return result;
  }
}

// GONE: the semaphore, once its value is there.
int post(futex_word& value) noexcept {
  std::uint32_t seen = value.load_relaxed(); // relaxed: the compare-and-swap tells
  do {
    if (seen == SEM_VALUE_MAX)
      return told(EOVERFLOW);
  } while (!value.cas_weak_acq_rel(seen, seen + 1)); // (P1)
  const errno_kept as_it_was;
  door::futex_wake_anywhere(&value, 1);
  return 0;
}

} // namespace
} // namespace weft::pthreads

using namespace weft::pthreads;

extern "C" {

WEFT_API int sem_post(sem_t* s) noexcept {
  return is_libcs(*s) ? libc.sem_post(s) : post(value_of(*s));
}

WEFT_API int sem_wait(sem_t* s) {
  return is_libcs(*s) ? libc.sem_wait(s) : told(take(value_of(*s), {}));
}

WEFT_API int sem_trywait(sem_t* s) noexcept {
  if (is_libcs(*s))
    return libc.sem_trywait(s);
  return told(try_take(value_of(*s)) ? 0 : EAGAIN);
}

WEFT_API int sem_timedwait(sem_t* s, const timespec* until) {
  return is_libcs(*s) ? libc.sem_timedwait(s, until) : told(take(value_of(*s), {until, CLOCK_REALTIME}));
}

WEFT_API int sem_clockwait(sem_t* s, clockid_t clock, const timespec* until) {
  if (is_libcs(*s))
    return libc.sem_clockwait(s, clock, until);
  const limit l{until, clock};
  return told(l.is_clock() ? take(value_of(*s), l) : EINVAL);
}

} // extern "C"
