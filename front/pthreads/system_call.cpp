// SPDX-License-Identifier: MIT
// syscall(SYS_futex, ...) of libraries that wait so (libstdc++, glib, TBB, the JVM): private words wait here.
// And ids of threads, and what is a kernel thread's own (kernel_calls.hpp). All else is the kernel's; what
// closes descriptors is seen.
#include "front/pthreads/kernel_calls.hpp"
#include "front/pthreads/known_descriptors.hpp"
#include "front/pthreads/libc.hpp"
#include "front/pthreads/thread.hpp"
#include "front/pthreads/thread_ids.hpp"
#include "front/pthreads/told.hpp"
#include "weft/door/deadline.hpp"

#include <algorithm>
#include <linux/futex.h>
#include <sys/syscall.h>

namespace weft::pthreads {
namespace {

struct futex_call {
  futex_word* word;
  long operation;
  std::uint32_t value;
  long limit_or_count; // a timespec, or how many to move
  const void* to;
  std::uint32_t last; // bits, or what is expected
};

// Of WAIT the length, of WAIT_BITSET the moment.
long wait(const futex_call& c, bool has_bits) noexcept {
  const auto* limit = reinterpret_cast<const timespec*>(c.limit_or_count);
  timespec until{};
  clockid_t clock = (c.operation & FUTEX_CLOCK_REALTIME) != 0 ? CLOCK_REALTIME : CLOCK_MONOTONIC;
  if (limit != nullptr && !has_bits) {
    if (!door::is_valid(*limit))
      return told(EINVAL);
    clock = CLOCK_MONOTONIC;
    ::clock_gettime(clock, &until);
    constexpr std::int64_t longest = 1'000'000'000; // seconds
    until.tv_sec += std::min<std::int64_t>(limit->tv_sec, longest);
    until.tv_nsec += limit->tv_nsec;
    if (until.tv_nsec >= door::ns_a_second) {
      until.tv_nsec -= door::ns_a_second;
      ++until.tv_sec;
    }
    limit = &until;
  }
  return told(door::futex_wait(
      *c.word, c.value,
      {.until = limit, .clock = clock, .bits = has_bits ? c.last : door::any_futex_bit})); // SWITCH: may
}

// Without bits it may come in a handler.
long wake(const futex_call& c, std::uint32_t bits) noexcept {
  if (bits == 0)
    return told(EINVAL);
  const errno_kept as_it_was;
  const unsigned most = std::max(c.value, 1U); // as the kernel has it
  return bits == door::any_futex_bit ? static_cast<long>(door::futex_wake_anywhere(c.word, most))
                                     : static_cast<long>(door::futex_wake(c.word, most, bits));
}

long requeue(const futex_call& c, const std::uint32_t* expected) noexcept {
  const door::futex_moved m =
      door::futex_requeue(*c.word, expected, c.value, c.to, static_cast<unsigned>(c.limit_or_count));
  return m.error != 0 ? told(m.error) : static_cast<long>(m.woken + (expected != nullptr ? m.requeued : 0));
}

// False: it is the kernel's.
bool is_ours(const futex_call& c) noexcept {
  if (c.word == nullptr || (reinterpret_cast<std::uintptr_t>(c.word) & 3) != 0 ||
      (c.operation & FUTEX_PRIVATE_FLAG) == 0)
    return false;
  switch (c.operation & FUTEX_CMD_MASK) {
  case FUTEX_WAIT:
    return (c.operation & FUTEX_CLOCK_REALTIME) == 0; // else the kernel's length by that clock
  case FUTEX_WAIT_BITSET:
  case FUTEX_WAKE:
  case FUTEX_WAKE_BITSET:
  case FUTEX_REQUEUE:
  case FUTEX_CMP_REQUEUE:
    return true;
  default:
    return false;
  }
}

long futex(const futex_call& c) noexcept {
  switch (c.operation & FUTEX_CMD_MASK) {
  case FUTEX_WAIT:
    return wait(c, false);
  case FUTEX_WAIT_BITSET:
    return wait(c, true);
  case FUTEX_WAKE:
    return wake(c, door::any_futex_bit);
  case FUTEX_WAKE_BITSET:
    return wake(c, c.last);
  case FUTEX_REQUEUE:
    return requeue(c, nullptr);
  default:
    return requeue(c, &c.last);
  }
}

// Calls that close a number.
void see_closing(long number, const long (&a)[6]) noexcept {
  if (number == SYS_close) {
    watch_no_more(static_cast<int>(a[0]));
  } else if (number == SYS_dup2 || number == SYS_dup3) {
    watch_no_more(static_cast<int>(a[1]));
  } else if (number == SYS_close_range) {
    watch_no_more(static_cast<unsigned>(a[0]), static_cast<unsigned>(a[1]));
  }
}

} // namespace
} // namespace weft::pthreads

using namespace weft::pthreads;

// As wide as calls are; what a caller has not given is not looked at.
extern "C" WEFT_API long syscall(long number, ...) noexcept {
  long a[6];
  __builtin_va_list given;
  __builtin_va_start(given, number);
  for (long& x : a)
    x = __builtin_va_arg(given, long);
  __builtin_va_end(given);
  if (number == SYS_futex) {
    const futex_call c{reinterpret_cast<futex_word*>(a[0]), a[1] & 0xffffffff,
                       static_cast<std::uint32_t>(a[2]),    a[3],
                       reinterpret_cast<void*>(a[4]),       static_cast<std::uint32_t>(a[5])};
    if (is_ours(c))
      return futex(c);
  }
  see_closing(number, a);
  if (number == SYS_gettid && self != nullptr)
    return own_id();
  if (number == SYS_set_tid_address && self != nullptr) {
    self->clears_at_end = reinterpret_cast<futex_word*>(a[0]);
    return own_id();
  }
  const bool has_process = number == SYS_tgkill;
  if (const long id = has_process ? a[1] : a[0];
      (has_process || number == SYS_tkill) && is_our_id(static_cast<pid_t>(id)))
    return kill_by_id(static_cast<pid_t>(id), static_cast<int>(has_process ? a[2] : a[1]));
  if (self != nullptr) {
    if (const std::optional<long> result = before_kernel_call(number, a))
      return *result;
  }
  return libc.syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
