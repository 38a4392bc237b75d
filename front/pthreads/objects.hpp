// SPDX-License-Identifier: MIT
// The objects of <pthread.h> and <semaphore.h> as this library uses their bytes. glibc's own functions
// initialise them (and static initialisers, which are zeros but for the kind of a mutex), so a shared one is
// told from a private one by the marks that glibc has put there, and goes to glibc's functions for all else.
#pragma once

#include "weft/door/atomic.hpp"
#include "weft/door/futex.hpp"

#include <cstdint>
#include <ctime>
#include <pthread.h>
#include <semaphore.h>

namespace weft::pthreads {

using door::futex_word;

template <class T>
[[nodiscard]] futex_word& word_in(T& member) noexcept {
  static_assert(sizeof(T) >= sizeof(futex_word));
  return reinterpret_cast<futex_word&>(member);
}

/// All objects are libc's, as all threads are the kernel's (takeover.hpp). Written when the library is
/// loaded.
extern bool all_are_libcs;

// --- mutex: the lock's word is glibc's, 0 free, 1 taken, 2 taken and waited for; so is the count ---

enum : int { kind_mask = 3, robust_bit = 16, inherit_bit = 32, protect_bit = 64, shared_bit = 128 };

[[nodiscard]] inline futex_word& lock_of(pthread_mutex_t& m) noexcept {
  return word_in(m.__data.__lock);
}
[[nodiscard]] inline int kind_of(const pthread_mutex_t& m) noexcept {
  return __atomic_load_n(&m.__data.__kind, __ATOMIC_RELAXED); // relaxed: constant between init and destroy
}
/// Its owner has another priority meanwhile (kernel_mutex.hpp).
[[nodiscard]] inline bool gives_priorities(int kind) noexcept {
  return kind >= 0 && (kind & (inherit_bit | protect_bit)) != 0;
}
[[nodiscard]] inline bool has_ceiling(int kind) noexcept {
  return kind >= 0 && (kind & protect_bit) != 0;
}
/// Robust ones belong to libc, which hands them over when their owner ends; shared ones to the kernel, and
/// those that give priorities to both; -1 is one that was destroyed.
[[nodiscard]] inline bool is_libcs(int kind) noexcept {
  return all_are_libcs || kind < 0 || gives_priorities(kind) || (kind & (robust_bit | shared_bit)) != 0;
}

// --- condition variable: the number of wake-ups so far; glibc's marks ---

[[nodiscard]] inline futex_word& wakes_of(pthread_cond_t& c) noexcept {
  return word_in(c.__data.__wseq);
}
/// How many are between the look at that and the end of their sleep.
[[nodiscard]] inline futex_word& inside_of(pthread_cond_t& c) noexcept {
  return word_in(c.__data.__g_size[0]);
}
[[nodiscard]] inline bool is_shared(const pthread_cond_t& c) noexcept {
  return (c.__data.__wrefs & 1) != 0;
}
[[nodiscard]] inline clockid_t clock_of(const pthread_cond_t& c) noexcept {
  return (c.__data.__wrefs & 2) != 0 ? CLOCK_MONOTONIC : CLOCK_REALTIME;
}

// --- semaphore: its value, as glibc has it ---

struct semaphore_bytes { // glibc's, 64 bits, since 2.21
  std::uint32_t value, waiters;
  int shared, pad;
};
static_assert(sizeof(semaphore_bytes) <= sizeof(sem_t));
[[nodiscard]] inline futex_word& value_of(sem_t& s) noexcept {
  return word_in(reinterpret_cast<semaphore_bytes&>(s).value);
}
[[nodiscard]] inline bool is_shared(const sem_t& s) noexcept {
  return reinterpret_cast<const semaphore_bytes&>(s).shared != 0;
}

// --- lock for readers and writers: one word (rwlock.cpp), the id of who writes ---

[[nodiscard]] inline futex_word& state_of(pthread_rwlock_t& l) noexcept {
  return word_in(l.__data.__readers);
}
[[nodiscard]] inline futex_word& writer_of(pthread_rwlock_t& l) noexcept {
  return word_in(l.__data.__cur_writer);
}
[[nodiscard]] inline bool is_shared(const pthread_rwlock_t& l) noexcept {
  return l.__data.__shared != 0;
}
[[nodiscard]] inline bool prefers_writers(const pthread_rwlock_t& l) noexcept {
  return l.__data.__flags == PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP;
}

// --- barrier: who has come in this round, the number of the round, who is inside ---

struct barrier_bytes { // glibc's, since 2.22
  std::uint32_t come, round, count;
  int shared;
  std::uint32_t inside;
};
static_assert(sizeof(barrier_bytes) <= sizeof(pthread_barrier_t));
[[nodiscard]] inline barrier_bytes& bytes_of(pthread_barrier_t& b) noexcept {
  return reinterpret_cast<barrier_bytes&>(b);
}
[[nodiscard]] inline bool is_shared(const pthread_barrier_t& b) noexcept {
  return reinterpret_cast<const barrier_bytes&>(b).shared != 0;
}
[[nodiscard]] inline unsigned count_of(const pthread_barrier_t& b) noexcept {
  return reinterpret_cast<const barrier_bytes&>(b).count;
}

/// Of all of these but mutexes: shared ones are the kernel's.
template <class Object>
[[nodiscard]] bool is_libcs(const Object& o) noexcept {
  return all_are_libcs || is_shared(o);
}

} // namespace weft::pthreads
