// SPDX-License-Identifier: MIT
// The futex, private to the process. Words are 4 bytes, aligned; any type of that size will do
// (std::uint32_t, base::atomic<std::uint32_t>). No loops here: callers re-check their word after every
// return. Contexts of all functions: any kernel thread (a thread or tasklet blocks its worker); wake() is
// also SIGNAL-SAFE. Switches: never. Errors: returned as 0 or an errno value; errno itself may change.
#pragma once

#include "weft/base/virtual_kernel.hpp"
#include "weft/os/clock.hpp"
#include "weft/os/interruptible.hpp"

#include <cerrno>
#include <climits>
#include <cstdint>
#include <ctime>
#include <limits>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace weft::os {

template <class Word>
concept futex_word = sizeof(Word) == 4 && alignof(Word) >= 4;

// Blocks while *word == expected. 0: woken, perhaps without cause; EAGAIN: the word differed; EINTR: a
// signal.
template <futex_word Word>
int futex_wait(const Word* word, std::uint32_t expected) noexcept {
  if (base::virtual_kernel* const simulated = base::virtual_kernel_here()) [[unlikely]]
    return simulated->wait(word, expected, std::numeric_limits<std::int64_t>::max());
  const long result = interruptible(
      [=] { return ::syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, expected, nullptr, nullptr, 0); });
  return result == 0 ? 0 : errno;
}

// As futex_wait, no later than `deadline_ns` on CLOCK_MONOTONIC (now_ns()); ETIMEDOUT then, also where
// signals leave no call the time to say so. A deadline <= 0 has passed.
template <futex_word Word>
int futex_wait_until(const Word* word, std::uint32_t expected, std::int64_t deadline_ns) noexcept {
  if (base::virtual_kernel* const simulated = base::virtual_kernel_here()) [[unlikely]]
    return simulated->wait(word, expected, deadline_ns);
  const timespec deadline = timespec_of(deadline_ns < 0 ? 0 : deadline_ns);
  const long result = interruptible([&] {
    return ::syscall(SYS_futex, word, FUTEX_WAIT_BITSET_PRIVATE, expected, &deadline, nullptr,
                     FUTEX_BITSET_MATCH_ANY);
  });
  if (result == 0)
    return 0;
  return errno == EINTR && now_ns() >= deadline_ns ? ETIMEDOUT : errno;
}

// Wakes up to `count` kernel threads that wait on `word`; returns how many. The word may be gone already: the
// kernel only compares its address, so a waker whose word was freed wakes nobody or, at worst, someone
// without cause.
template <futex_word Word>
int futex_wake(const Word* word, int count) noexcept {
  if (base::virtual_kernel* const simulated = base::virtual_kernel_here()) [[unlikely]]
    return simulated->wake(word, count);
  const long result = ::syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, nullptr, nullptr, 0);
  return result < 0 ? 0 : static_cast<int>(result);
}

template <futex_word Word>
int futex_wake_all(const Word* word) noexcept {
  return futex_wake(word, INT_MAX);
}

} // namespace weft::os
