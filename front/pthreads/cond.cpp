// SPDX-License-Identifier: MIT
// pthread_cond_...: a count of the wake-ups. Who waits reads it before it gives the mutex up, and sleeps
// while it reads so; the queue behind the word is in order of arrival, so nobody who comes later takes an
// earlier one's wake-up. Who has been woken does not touch the variable again, which may be destroyed.
#include "front/pthreads/exported.hpp"
#include "front/pthreads/libc.hpp"
#include "front/pthreads/mutex.hpp"
#include "front/pthreads/requests.hpp"

namespace weft::pthreads {
namespace {

void wake(pthread_cond_t& c, unsigned most) noexcept {
  const errno_kept as_it_was;
  futex_word& wakes = wakes_of(c);
  wakes.fetch_add_release(1); // (C1) pairs with the acquire in wait()
  door::futex_wake(&wakes, most);
}

constexpr std::uint32_t is_being_destroyed = 1U << 31;

// In scope: the variable is not destroyed. Who has been woken may have it destroyed at once, but another one
// may not have looked at its count yet.
class inside {
 public:
  explicit inside(pthread_cond_t& c) noexcept : count_(inside_of(c)) {
    count_.fetch_add_relaxed(1); // relaxed: the caller has the mutex
  }
  ~inside() {
    if (count_.fetch_sub_release(1) == (is_being_destroyed | 1)) { // GONE: the variable. (C2)
      const errno_kept as_it_was;
      door::futex_wake(&count_, door::all_futex_waiters);
    }
  }
  inside(const inside&) = delete;
  inside& operator=(const inside&) = delete;

 private:
  futex_word& count_;
};

int destroy(pthread_cond_t& c) noexcept {
  futex_word& count = inside_of(c);
  const errno_kept as_it_was;
  std::uint32_t left = count.fetch_or_acquire(is_being_destroyed) | is_being_destroyed; // (C2)
  for (; left != is_being_destroyed; left = count.load_acquire())                       // (C2)
    door::futex_wait(count, left); // SWITCH: may resume on another worker
  return 0;
}

// Handlers run without the mutex, and the caller goes on waiting: who called it off has woken it too.
int wait_for_wake(futex_word& wakes, std::uint32_t seen, const limit& until) {
  for (;;) {
    const int result = wait_unless_asked( // SWITCH: may resume on another worker
        wakes, seen, {.until = until.until, .clock = until.clock, .kind = door::wait_kind::condition});
    const bool is_called_off =
        result == EINTR || result == ECANCELED ||
        (result == 0 && self != nullptr && self->call_off.load_relaxed() != 0 && // relaxed: a hint
         wakes.load_relaxed() == seen);                                          // relaxed: looked at again
    if (!is_called_off || !act_on_signals())
      return result;
  }
}

int wait(pthread_cond_t& c, pthread_mutex_t& m, const limit& until) {
  act_on_requests();
  if (const int error = until.error(); error == EINVAL)
    return error;
  futex_word& wakes = wakes_of(c);
  const std::uint32_t seen = wakes.load_acquire(); // (C1)
  given_up_mutex given(m);
  int result = 0;
  {
    const inside here(c);
    if (const int error = given.give_up())
      return error;
    result = until.error(); // a moment before all others
    if (result == 0)        // SWITCH: may resume on another worker
      result = wait_for_wake(wakes, seen, until);
  }
  if (const int error = given.take_again()) // SWITCH: may resume on another worker
    return error;
  if (is_asked_to_end()) {
    if (result == 0)
      wake(c, 1); // what the caller will not make use of is another one's
    act_on_requests();
  }
  act_after_wait();
  return result == ETIMEDOUT || result == ENOMEM ? result : 0;
}

} // namespace

int exported::cond_wait(pthread_cond_t* c, pthread_mutex_t* m) {
  return is_libcs(*c) ? libc.pthread_cond_wait(c, m) : wait(*c, *m, {});
}

int exported::cond_timedwait(pthread_cond_t* c, pthread_mutex_t* m, const timespec* until) {
  return is_libcs(*c) ? libc.pthread_cond_timedwait(c, m, until) : wait(*c, *m, {until, clock_of(*c)});
}

int exported::cond_signal(pthread_cond_t* c) noexcept {
  if (is_libcs(*c))
    return libc.pthread_cond_signal(c);
  wake(*c, 1);
  return 0;
}

int exported::cond_broadcast(pthread_cond_t* c) noexcept {
  if (is_libcs(*c))
    return libc.pthread_cond_broadcast(c);
  wake(*c, weft::door::all_futex_waiters);
  return 0;
}

int exported::cond_destroy(pthread_cond_t* c) noexcept {
  return is_libcs(*c) ? libc.pthread_cond_destroy(c) : destroy(*c);
}

} // namespace weft::pthreads

using namespace weft::pthreads;

extern "C" {

WEFT_API int pthread_cond_wait(pthread_cond_t* c, pthread_mutex_t* m) {
  return exported::cond_wait(c, m);
}

WEFT_API int pthread_cond_timedwait(pthread_cond_t* c, pthread_mutex_t* m, const timespec* until) {
  return exported::cond_timedwait(c, m, until);
}

WEFT_API int pthread_cond_clockwait(pthread_cond_t* c, pthread_mutex_t* m, clockid_t clock,
                                    const timespec* until) {
  return is_libcs(*c) ? libc.pthread_cond_clockwait(c, m, clock, until) : wait(*c, *m, {until, clock});
}

WEFT_API int pthread_cond_signal(pthread_cond_t* c) noexcept {
  return exported::cond_signal(c);
}

WEFT_API int pthread_cond_broadcast(pthread_cond_t* c) noexcept {
  return exported::cond_broadcast(c);
}

WEFT_API int pthread_cond_destroy(pthread_cond_t* c) noexcept {
  return exported::cond_destroy(c);
}

} // extern "C"
