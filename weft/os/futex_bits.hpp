// SPDX-License-Identifier: MIT
// The futex with all that the kernel has of it: sets of bits, limits by the clock of the caller's choice, and
// words that processes share. Beside futex.hpp, which is what the runtime itself waits on. Contexts of all:
// any kernel thread, wake() SIGNAL-SAFE. Switches: never. Errors: returned as an errno value.
#pragma once

#include "weft/os/futex.hpp"

namespace weft::os {

struct futex_limit {
  const timespec* moment = nullptr; // null: none
  bool realtime = false;            // of CLOCK_REALTIME; else of CLOCK_MONOTONIC
};

// Blocks while *word == expected. 0: woken, perhaps without cause; EAGAIN: the word differed; EINTR: a
// signal; ETIMEDOUT; EINVAL: no bits, or no moment.
template <futex_word Word>
int futex_wait_bits(const Word* word, std::uint32_t expected, std::uint32_t bits, futex_limit limit,
                    bool shared) noexcept {
  const int operation =
      FUTEX_WAIT_BITSET | (shared ? 0 : FUTEX_PRIVATE_FLAG) | (limit.realtime ? FUTEX_CLOCK_REALTIME : 0);
  const long result = interruptible(
      [=] { return ::syscall(SYS_futex, word, operation, expected, limit.moment, nullptr, bits); });
  return result == 0 ? 0 : errno;
}

// Wakes up to `most` of those whose bits meet these; returns how many.
inline unsigned futex_wake_bits(const void* word, unsigned most, std::uint32_t bits, bool shared) noexcept {
  const int operation = FUTEX_WAKE_BITSET | (shared ? 0 : FUTEX_PRIVATE_FLAG);
  const int count = most < static_cast<unsigned>(INT_MAX) ? static_cast<int>(most) : INT_MAX;
  const long result = ::syscall(SYS_futex, word, operation, count, nullptr, nullptr, bits);
  return result < 0 ? 0 : static_cast<unsigned>(result);
}

} // namespace weft::os
