// SPDX-License-Identifier: MIT
// pthread_mutex_...: normal, recursive, error-checking and adaptive ones in glibc's bytes, with glibc's three
// values of the word; robust and shared ones, and those that give priorities, are glibc's.
#include "front/pthreads/mutex.hpp"
#include "front/pthreads/exported.hpp"

#include "front/pthreads/kernel_mutex.hpp"
#include "front/pthreads/libc.hpp"
#include "front/pthreads/requests.hpp"
#include "front/pthreads/takeover.hpp"

#include <climits>

namespace weft::pthreads {
namespace {

enum : std::uint32_t { free_ = 0, taken = 1, waited_for = 2 };

bool try_take(futex_word& word) noexcept {
  std::uint32_t seen = free_;
  return word.cas_strong_acquire(seen, taken); // (X1) pairs with the release in give()
}

// Some of those that wait may be asleep: so who has waited leaves the word saying so.
[[gnu::noinline]] int take_slowly(futex_word& word, const limit& until) noexcept {
  const errno_kept as_it_was;
  constexpr int looks = 64; // about what a wait and a wake-up cost
  for (int i = 0; i < looks; ++i) {
    door::relax();
    if (word.load_relaxed() == free_ && try_take(word)) // RACY: decides when to try
      return 0;
  }
  if (const int error = until.error())
    return error;
  int result = 0;
  while (word.exchange_acquire(waited_for) != free_) { // (X1) pairs with the release in give()
    if (result == ETIMEDOUT || result == ENOMEM)
      return result;
    // SWITCH: may resume on another worker
    result = wait_and_handle(word, waited_for,
                             {.until = until.until, .clock = until.clock, .kind = door::wait_kind::mutex});
  }
  act_after_wait();
  return 0;
}

int take(futex_word& word, const limit& until) noexcept {
  return try_take(word) ? 0 : take_slowly(word, until);
}

[[gnu::noinline]] void wake_one(futex_word& word) noexcept {
  const errno_kept as_it_was;
  door::futex_wake(&word, 1);
}

// GONE: the mutex, if nobody waits.
void give(futex_word& word) noexcept {
  if (word.exchange_release(free_) == waited_for) [[unlikely]] // (X1)
    wake_one(word);
}

// By far the most are so, and are to cost what they do in libc.
bool is_plain(const pthread_mutex_t& m) noexcept {
  return kind_of(m) == PTHREAD_MUTEX_TIMED_NP && !all_are_libcs;
}

// --- kinds that know their owner ---

std::uint32_t owner_of(const pthread_mutex_t& m) noexcept {
  return static_cast<std::uint32_t>(__atomic_load_n(&m.__data.__owner, __ATOMIC_RELAXED)); // only the own
}
void set_owner(pthread_mutex_t& m, std::uint32_t who) noexcept {
  __atomic_store_n(&m.__data.__owner, static_cast<int>(who), __ATOMIC_RELAXED);
}

bool knows_owner(int kind) noexcept {
  const int type = kind & kind_mask;
  return type == PTHREAD_MUTEX_RECURSIVE_NP || type == PTHREAD_MUTEX_ERRORCHECK_NP;
}

// -1: the caller does not have it, and is to take it.
int take_once_more(pthread_mutex_t& m, int kind, int if_checked) noexcept {
  if (owner_of(m) != own_number())
    return -1;
  if ((kind & kind_mask) == PTHREAD_MUTEX_ERRORCHECK_NP)
    return if_checked;
  if (m.__data.__count == UINT_MAX)
    return EAGAIN;
  ++m.__data.__count;
  return 0;
}

void begin_to_own(pthread_mutex_t& m) noexcept {
  set_owner(m, own_number());
  m.__data.__count = 1;
}

int lock_owned(pthread_mutex_t& m, int kind, const limit& until) noexcept {
  if (const int known = take_once_more(m, kind, EDEADLK); known >= 0)
    return known;
  if (const int error = take(lock_of(m), until))
    return error;
  begin_to_own(m);
  return 0;
}

int lock(pthread_mutex_t& m, const limit& until) noexcept {
  const int kind = kind_of(m);
  return knows_owner(kind) ? lock_owned(m, kind, until) : take(lock_of(m), until);
}

int try_lock(pthread_mutex_t& m) noexcept {
  const int kind = kind_of(m);
  if (knows_owner(kind)) {
    if (const int known = take_once_more(m, kind, EBUSY); known >= 0)
      return known;
  }
  if (!try_take(lock_of(m)))
    return EBUSY;
  if (knows_owner(kind))
    begin_to_own(m);
  return 0;
}

int unlock(pthread_mutex_t& m) noexcept {
  if (knows_owner(kind_of(m))) {
    if (owner_of(m) != own_number())
      return EPERM;
    if (--m.__data.__count != 0)
      return 0;
    set_owner(m, 0);
  }
  give(lock_of(m));
  return 0;
}

} // namespace

namespace {

// libc is to learn anew which priority the thread has without such mutexes, where it has none: so they are
// counted.
template <class Call>
int lock_by_libc(int kind, Call call) noexcept {
  const int error = call_libc(kind, call);
  if (error == 0 && self != nullptr && has_ceiling(kind))
    ++self->ceilings_held;
  return error;
}
int unlock_by_libc(int kind, pthread_mutex_t& m) noexcept {
  const int error = call_libc(kind, [&m] { return libc.pthread_mutex_unlock(&m); });
  if (error == 0 && self != nullptr && has_ceiling(kind))
    --self->ceilings_held;
  return error;
}

} // namespace

// libc's destroy looks at the users, of whom there are none else here.
int given_up_mutex::give_up() noexcept {
  if (is_libcs(kind_of(mutex_))) {
    count_user(1);
    const int error = exported::mutex_unlock(&mutex_);
    if (error != 0)
      count_user(-1);
    return error;
  }
  if (knows_owner(kind_of(mutex_))) {
    if (owner_of(mutex_) != own_number())
      return EPERM;
    more_ = mutex_.__data.__count - 1;
    mutex_.__data.__count = 1;
  }
  count_user(1);
  return unlock(mutex_);
}

void given_up_mutex::count_user(int more) noexcept {
  __atomic_fetch_add(&mutex_.__data.__nusers, static_cast<unsigned>(more),
                     __ATOMIC_RELAXED); // relaxed: a count
}

int given_up_mutex::take_again() noexcept {
  const bool is_of_libc = is_libcs(kind_of(mutex_));
  const int error = is_of_libc ? exported::mutex_lock(&mutex_) : lock(mutex_, {});
  count_user(-1);
  if (is_of_libc)
    return error;
  if (knows_owner(kind_of(mutex_)))
    mutex_.__data.__count += more_;
  return error;
}

int exported::mutex_init(pthread_mutex_t* m, const pthread_mutexattr_t* how) noexcept {
  const int error = libc.pthread_mutex_init(m, how);
  if (error == 0 && (kind_of(*m) & inherit_bit) != 0 && takes_threads_over() && !is_to_inherit(kind_of(*m)))
    m->__data.__kind &= ~int{inherit_bit};
  return error;
}

int exported::mutex_lock(pthread_mutex_t* m) noexcept {
  const int kind = kind_of(*m);
  return is_libcs(kind) ? lock_by_libc(kind, [m] { return libc.pthread_mutex_lock(m); }) : lock(*m, {});
}

int exported::mutex_trylock(pthread_mutex_t* m) noexcept {
  const int kind = kind_of(*m);
  return is_libcs(kind) ? lock_by_libc(kind, [m] { return libc.pthread_mutex_trylock(m); }) : try_lock(*m);
}

int exported::mutex_timedlock(pthread_mutex_t* m, const timespec* until) noexcept {
  const int kind = kind_of(*m);
  return is_libcs(kind) ? lock_by_libc(kind, [=] { return libc.pthread_mutex_timedlock(m, until); })
                        : lock(*m, {until, CLOCK_REALTIME});
}

int exported::mutex_unlock(pthread_mutex_t* m) noexcept {
  const int kind = kind_of(*m);
  return is_libcs(kind) ? unlock_by_libc(kind, *m) : unlock(*m);
}

int exported::mutex_destroy(pthread_mutex_t* m) noexcept {
  if (!is_libcs(kind_of(*m)) && lock_of(*m).load_relaxed() != 0) // relaxed: nobody may use it any more
    return EBUSY;
  return libc.pthread_mutex_destroy(m);
}

} // namespace weft::pthreads

using namespace weft::pthreads;

extern "C" {

WEFT_API int pthread_mutex_init(pthread_mutex_t* m, const pthread_mutexattr_t* how) noexcept {
  return exported::mutex_init(m, how);
}

WEFT_API int pthread_mutex_lock(pthread_mutex_t* m) noexcept {
  if (is_plain(*m) && try_take(lock_of(*m))) [[likely]]
    return 0;
  return exported::mutex_lock(m);
}

WEFT_API int pthread_mutex_trylock(pthread_mutex_t* m) noexcept {
  return exported::mutex_trylock(m);
}

WEFT_API int pthread_mutex_timedlock(pthread_mutex_t* m, const timespec* until) noexcept {
  return exported::mutex_timedlock(m, until);
}

WEFT_API int pthread_mutex_clocklock(pthread_mutex_t* m, clockid_t clock, const timespec* until) noexcept {
  const int kind = kind_of(*m);
  if (is_libcs(kind))
    return lock_by_libc(kind, [=] { return libc.pthread_mutex_clocklock(m, clock, until); });
  const limit l{until, clock};
  return l.is_clock() ? lock(*m, l) : EINVAL;
}

WEFT_API int pthread_mutex_unlock(pthread_mutex_t* m) noexcept {
  if (is_plain(*m)) [[likely]] {
    give(lock_of(*m)); // GONE: the mutex, if nobody waits
    return 0;
  }
  return exported::mutex_unlock(m);
}

// Locks it meanwhile.
WEFT_API int pthread_mutex_setprioceiling(pthread_mutex_t* m, int ceiling, int* before) noexcept {
  return call_libc(kind_of(*m), [=] { return libc.pthread_mutex_setprioceiling(m, ceiling, before); });
}

WEFT_API int pthread_mutex_destroy(pthread_mutex_t* m) noexcept {
  return exported::mutex_destroy(m);
}

} // extern "C"
