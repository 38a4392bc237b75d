// SPDX-License-Identifier: MIT
// The clock of every timeout in Weft.
#pragma once

#include "weft/base/virtual_kernel.hpp"
#include "weft/os/interruptible.hpp"

#include <cstdint>
#include <ctime>

namespace weft::os {

// Nanoseconds of CLOCK_MONOTONIC, what std::chrono::steady_clock counts; through the vdso, about 20 ns. In a
// simulation, its own.
// Contexts: all, SIGNAL-SAFE. Switches: never. Errors: none.
inline std::int64_t now_ns() noexcept {
  if (base::virtual_kernel* const simulated = base::virtual_kernel_here()) [[unlikely]]
    return simulated->now();
  timespec now;
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// The same, some milliseconds late at most, for a quarter of the time.
inline std::int64_t coarse_now_ns() noexcept {
  timespec now;
  ::clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// Nanoseconds of CPU time that a kernel thread of this process has used; 0 if it is none. A system call.
// Contexts: all, SIGNAL-SAFE. Switches: never. Errors: none.
inline std::int64_t cpu_time_ns(int kernel_thread_id) noexcept {
  // As the kernel spells the clock of a kernel thread (CPUCLOCK_PERTHREAD_MASK | CPUCLOCK_SCHED).
  const auto clock = static_cast<clockid_t>((~static_cast<unsigned>(kernel_thread_id) << 3) | 6U);
  timespec used{};
  ::clock_gettime(clock, &used);
  return std::int64_t{used.tv_sec} * 1'000'000'000 + used.tv_nsec;
}

// Blocks the kernel thread for about `ns`; a signal may end it early. Contexts: all. Switches: never. Errors:
// none.
inline void sleep_ns(std::int64_t ns) noexcept {
  if (base::virtual_kernel* const simulated = base::virtual_kernel_here()) [[unlikely]]
    return simulated->sleep(ns);
  const timespec length{static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
  static_cast<void>(interruptible([&] { return ::clock_nanosleep(CLOCK_MONOTONIC, 0, &length, nullptr); }));
}

} // namespace weft::os
