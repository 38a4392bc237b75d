// SPDX-License-Identifier: MIT
// pthread_rwlock_...: one word.
//
//   bits 0-28   how many read
//   bit 29      readers may sleep
//   bit 30      writers may sleep
//   bit 31      one writes
//
// Who would sleep sets its bit in a word that keeps it out, and sleeps while the word reads so. Who makes it
// free clears both bits, wakes all readers and one writer, and does not touch it again. A writer that has
// slept sets the bit with its own, for those that still do.
#include "front/pthreads/libc.hpp"
#include "front/pthreads/limit.hpp"
#include "front/pthreads/requests.hpp"

namespace weft::pthreads {
namespace {

enum : std::uint32_t {
  one_reader = 1,
  readers_mask = (1U << 29) - 1,
  readers_sleep = 1U << 29,
  writers_sleep = 1U << 30,
  written = 1U << 31,
  as_reader = 1, // bits of the futex
  as_writer = 2
};

constexpr std::uint32_t may_be_asleep(std::uint32_t who) noexcept {
  return who == as_reader ? readers_sleep : writers_sleep;
}

// Sleeps until the word may have changed; 0, or an errno. `seen` keeps the caller out.
int sleep(futex_word& state, std::uint32_t seen, std::uint32_t who, const limit& until) noexcept {
  if (const int error = until.error())
    return error;
  const std::uint32_t marked = seen | may_be_asleep(who);
  if (marked != seen && !state.cas_strong_relaxed(seen, marked)) // relaxed: no more than a mark
    return 0;
  const int result = wait_and_handle(
      state, marked,
      {.until = until.until,
       .clock = until.clock,
       .bits = who,
       .kind = who == as_reader ? door::wait_kind::shared_reader : door::wait_kind::shared_mutex});
  return result == ETIMEDOUT || result == ENOMEM ? result : 0;
}

bool keeps_readers_out(std::uint32_t seen, bool prefers_writers) noexcept {
  return (seen & written) != 0 || (prefers_writers && (seen & writers_sleep) != 0);
}

// 0; EBUSY: it is kept out; EAGAIN: there are too many.
int try_read(pthread_rwlock_t& l, std::uint32_t& seen) noexcept {
  futex_word& state = state_of(l);
  seen = state.load_relaxed(); // relaxed: the compare-and-swap tells
  for (;;) {
    if (keeps_readers_out(seen, prefers_writers(l)))
      return EBUSY;
    if ((seen & readers_mask) == readers_mask)
      return EAGAIN;
    if (state.cas_weak_acquire(seen, seen + one_reader)) // (R1) pairs with the release in unlock()
      return 0;
  }
}

int try_write(pthread_rwlock_t& l, std::uint32_t& seen, std::uint32_t with) noexcept {
  futex_word& state = state_of(l);
  seen = state.load_relaxed(); // relaxed: the compare-and-swap tells
  while ((seen & (written | readers_mask)) == 0) {
    if (state.cas_weak_acquire(seen, seen | written | with)) { // (R1)
      writer_of(l).store_relaxed(own_number());                // relaxed: only the own number is looked for
      return 0;
    }
  }
  return EBUSY;
}

bool is_written_by_caller(pthread_rwlock_t& l) noexcept {
  return writer_of(l).load_relaxed() == own_number(); // relaxed: only the own number is looked for
}

int read(pthread_rwlock_t& l, const limit& until) noexcept {
  const errno_kept as_it_was;
  for (bool has_slept = false;; has_slept = true) {
    std::uint32_t seen = 0;
    if (const int error = try_read(l, seen); error != EBUSY) {
      if (has_slept)
        act_after_wait();
      return error;
    }
    if (is_written_by_caller(l))
      return EDEADLK;
    if (const int error = sleep(state_of(l), seen, as_reader, until))
      return error;
  }
}

// Readers may have been kept out for the caller's sake, and it may have got the wake-up of another writer:
// all look again, and mark the lock as they sleep again.
void give_up_waiting(futex_word& state) noexcept {
  const std::uint32_t were = state.fetch_and_relaxed(~std::uint32_t{readers_sleep | writers_sleep}); // (R1)
  if ((were & (readers_sleep | writers_sleep)) != 0)
    door::futex_wake(&state, door::all_futex_waiters, as_reader | as_writer);
}

int write(pthread_rwlock_t& l, const limit& until) noexcept {
  const errno_kept as_it_was;
  std::uint32_t with = 0;
  for (int error = 0;;) {
    std::uint32_t seen = 0;
    if (try_write(l, seen, with) == 0) {
      if (with != 0) // it has slept
        act_after_wait();
      return 0;
    }
    if (is_written_by_caller(l))
      return EDEADLK;
    if (error != 0) {
      give_up_waiting(state_of(l));
      return error;
    }
    error = sleep(state_of(l), seen, as_writer, until);
    with = writers_sleep;
  }
}

// GONE: the lock, once it is free.
void wake_sleepers(const futex_word* state, std::uint32_t were) noexcept {
  const errno_kept as_it_was;
  if ((were & writers_sleep) != 0)
    door::futex_wake(state, 1, as_writer);
  if ((were & readers_sleep) != 0)
    door::futex_wake(state, door::all_futex_waiters, as_reader);
}

int unlock(pthread_rwlock_t& l) noexcept {
  futex_word& state = state_of(l);
  std::uint32_t seen = state.load_relaxed(); // relaxed: the caller has it
  if ((seen & written) != 0)
    writer_of(l).store_relaxed(0); // relaxed: before the release below
  std::uint32_t next = 0;
  do {
    next = (seen & written) != 0 || (seen & readers_mask) == one_reader ? 0 : seen - one_reader;
  } while (!state.cas_weak_release(seen, next)); // (R1)
  if (next == 0 && (seen & (readers_sleep | writers_sleep)) != 0)
    wake_sleepers(&state, seen);
  return 0;
}

} // namespace
} // namespace weft::pthreads

using namespace weft::pthreads;

extern "C" {

WEFT_API int pthread_rwlock_rdlock(pthread_rwlock_t* l) noexcept {
  return is_libcs(*l) ? libc.pthread_rwlock_rdlock(l) : read(*l, {});
}

WEFT_API int pthread_rwlock_wrlock(pthread_rwlock_t* l) noexcept {
  return is_libcs(*l) ? libc.pthread_rwlock_wrlock(l) : write(*l, {});
}

WEFT_API int pthread_rwlock_tryrdlock(pthread_rwlock_t* l) noexcept {
  std::uint32_t seen = 0;
  return is_libcs(*l) ? libc.pthread_rwlock_tryrdlock(l) : try_read(*l, seen);
}

WEFT_API int pthread_rwlock_trywrlock(pthread_rwlock_t* l) noexcept {
  std::uint32_t seen = 0;
  return is_libcs(*l) ? libc.pthread_rwlock_trywrlock(l) : try_write(*l, seen, 0);
}

WEFT_API int pthread_rwlock_timedrdlock(pthread_rwlock_t* l, const timespec* until) noexcept {
  return is_libcs(*l) ? libc.pthread_rwlock_timedrdlock(l, until) : read(*l, {until, CLOCK_REALTIME});
}

WEFT_API int pthread_rwlock_timedwrlock(pthread_rwlock_t* l, const timespec* until) noexcept {
  return is_libcs(*l) ? libc.pthread_rwlock_timedwrlock(l, until) : write(*l, {until, CLOCK_REALTIME});
}

WEFT_API int pthread_rwlock_clockrdlock(pthread_rwlock_t* l, clockid_t clock,
                                        const timespec* until) noexcept {
  if (is_libcs(*l))
    return libc.pthread_rwlock_clockrdlock(l, clock, until);
  const limit u{until, clock};
  return u.is_clock() ? read(*l, u) : EINVAL;
}

WEFT_API int pthread_rwlock_clockwrlock(pthread_rwlock_t* l, clockid_t clock,
                                        const timespec* until) noexcept {
  if (is_libcs(*l))
    return libc.pthread_rwlock_clockwrlock(l, clock, until);
  const limit u{until, clock};
  return u.is_clock() ? write(*l, u) : EINVAL;
}

WEFT_API int pthread_rwlock_unlock(pthread_rwlock_t* l) noexcept {
  return is_libcs(*l) ? libc.pthread_rwlock_unlock(l) : unlock(*l);
}

} // extern "C"
