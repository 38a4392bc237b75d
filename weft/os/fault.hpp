// SPDX-License-Identifier: MIT
// Fault injection: tests make a chosen call of a chosen kind of OS service fail. Every service of this room
// that can fail asks fault() first; unarmed, that is one relaxed load and a branch, on calls that enter the
// kernel anyway.
#pragma once

#include "weft/base/export.hpp"

#include <atomic>
#include <cstdint>

namespace weft::os {

// `memory`: allocations through operator new or malloc on the runtime's behalf, asked by whoever allocates.
// `descriptor`: epoll_create1, eventfd; `registration`: epoll_ctl; `io_uring`: io_uring_setup.
// `shadow_stack`: asked by whoever starts workers; "fails" in a process that has shadow stacks.
// `interrupted`: every call that a signal can end with EINTR (interruptible.hpp); they fail before they are
// made, but connect(2), which goes on, and close(2), which is done.
// `submission`: io_uring_enter, as where the kernel has no memory for a request.
enum class fault_site : std::uint8_t {
  mmap,
  madvise,
  mprotect,
  thread_create,
  timer_create,
  memory,
  descriptor,
  registration,
  io_uring,
  shadow_stack,
  interrupted,
  submission,
};
inline constexpr unsigned fault_site_count = 12;

WEFT_API extern std::atomic<bool> fault_armed;

// The slow half of fault(): counts the call; the errno to fail with, or 0.
WEFT_API int fault_now(fault_site site) noexcept;

// 0, or the errno value with which this call is to fail. Contexts: all, SIGNAL-SAFE. Switches: never.
inline int fault(fault_site site) noexcept {
  // relaxed: tests arm before the calls they want to hit, in an order of their own
  if (!fault_armed.load(std::memory_order_relaxed)) [[likely]] {
    return 0;
  }
  return fault_now(site);
}

// Calls are counted from 1, from the moment a site is armed. Arming a site replaces what was armed there.
// Fails the nth call (n >= 1) with errno `error`, and no other.
WEFT_API void fail_nth(fault_site site, std::uint64_t n, int error) noexcept;
// Fails every call after the first n.
WEFT_API void fail_after(fault_site site, std::uint64_t n, int error) noexcept;
// Fails each nth call (n >= 1): the nth, the 2nth and so on.
WEFT_API void fail_every(fault_site site, std::uint64_t n, int error) noexcept;
// Counts without failing, for learning how many calls there are.
WEFT_API void count_calls(fault_site site) noexcept;
// Back to normal, all sites; keeps the counts below until the next arming.
WEFT_API void disarm_faults() noexcept;
// Calls since the site was armed, and how many of them were made to fail.
WEFT_API std::uint64_t fault_calls(fault_site site) noexcept;
WEFT_API std::uint64_t fault_hits(fault_site site) noexcept;

} // namespace weft::os
