// SPDX-License-Identifier: MIT
// pthread_barrier_...: who has come and which round it is are one word of 64 bits, since more threads than a
// round has may use the barrier. Each is counted inside until it has seen its round end, and destroying waits
// for that: the first who is let through may destroy it.
#include "front/pthreads/libc.hpp"
#include "front/pthreads/requests.hpp"

#include <cstddef>

namespace weft::pthreads {
namespace {

using arrivals = door::atomic<std::uint64_t>; // low half: who has come; high half: the round
static_assert(offsetof(barrier_bytes, come) == 0 && offsetof(barrier_bytes, round) == 4);

futex_word& inside_of(pthread_barrier_t& b) noexcept {
  return word_in(bytes_of(b).inside);
}

// True for the last of its round.
bool arrive(pthread_barrier_t& b, std::uint32_t& round) noexcept {
  auto& word = reinterpret_cast<arrivals&>(b);
  std::uint64_t seen = word.load_relaxed(); // relaxed: the compare-and-swap tells
  for (;;) {
    round = static_cast<std::uint32_t>(seen >> 32);
    const std::uint64_t come = (seen & 0xffffffff) + 1;
    const bool is_last = come == count_of(b);
    const std::uint64_t next = is_last ? std::uint64_t{round + 1} << 32 : seen + 1;
    if (word.cas_weak_acq_rel(seen, next)) // (Y1) all before a round's end; pairs with the load in wait()
      return is_last;
  }
}

int wait(pthread_barrier_t& b) noexcept {
  const errno_kept as_it_was;
  inside_of(b).fetch_add_relaxed(1); // relaxed: the caller may use the barrier
  futex_word& now = word_in(bytes_of(b).round);
  std::uint32_t round = 0;
  const bool is_last = arrive(b, round);
  if (is_last)
    door::futex_wake(&now, door::all_futex_waiters);
  while (!is_last && now.load_acquire() == round)                    // (Y1)
    wait_and_handle(now, round, {.kind = door::wait_kind::barrier}); // SWITCH: may resume on another worker
  futex_word& inside = inside_of(b);
  if (inside.fetch_sub_release(1) == 1) // GONE: the barrier. (Y2) pairs with the acquire in destroy()
    door::futex_wake(&inside, door::all_futex_waiters);
  if (!is_last)
    act_after_wait();
  return is_last ? PTHREAD_BARRIER_SERIAL_THREAD : 0;
}

int destroy(pthread_barrier_t& b) noexcept {
  const errno_kept as_it_was;
  futex_word& inside = inside_of(b);
  for (std::uint32_t left = inside.load_acquire(); left != 0; left = inside.load_acquire()) // (Y2)
    door::futex_wait(inside, left); // SWITCH: may resume on another worker
  return 0;
}

} // namespace
} // namespace weft::pthreads

using namespace weft::pthreads;

extern "C" {

WEFT_API int pthread_barrier_wait(pthread_barrier_t* b) noexcept {
  return is_libcs(*b) ? libc.pthread_barrier_wait(b) : wait(*b);
}

WEFT_API int pthread_barrier_destroy(pthread_barrier_t* b) noexcept {
  return is_libcs(*b) ? libc.pthread_barrier_destroy(b) : destroy(*b);
}

} // extern "C"
