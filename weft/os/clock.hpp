// SPDX-License-Identifier: MIT
// The clock of every timeout in Weft, and what is left of a length of time.
#pragma once

#include "weft/base/virtual_kernel.hpp"
#include "weft/os/interruptible.hpp"
#include "weft/os/timespec.hpp"

#include <algorithm>
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
  return ns_of_reading(now);
}

// The same, some milliseconds late at most, for a quarter of the time.
inline std::int64_t coarse_now_ns() noexcept {
  timespec now;
  ::clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return ns_of_reading(now);
}

// Nanoseconds of CPU time that a kernel thread of this process has used; 0 if it is none. The number 0 stands
// for the calling one. A system call.
// Contexts: all, SIGNAL-SAFE. Switches: never. Errors: none.
inline std::int64_t cpu_time_ns(int kernel_thread_id) noexcept {
  // As the kernel spells the clock of a kernel thread (CPUCLOCK_PERTHREAD_MASK | CPUCLOCK_SCHED).
  const auto clock = static_cast<clockid_t>((~static_cast<unsigned>(kernel_thread_id) << 3) | 6U);
  timespec used{};
  ::clock_gettime(clock, &used);
  return ns_of_reading(used);
}

// Blocks the kernel thread for about `ns`; a signal may end it early. Contexts: all. Switches: never. Errors:
// none.
inline void sleep_ns(std::int64_t ns) noexcept {
  if (base::virtual_kernel* const simulated = base::virtual_kernel_here()) [[unlikely]]
    return simulated->sleep(ns);
  const timespec length = timespec_of(ns);
  static_cast<void>(interruptible([&] { return ::clock_nanosleep(CLOCK_MONOTONIC, 0, &length, nullptr); }));
}

// How much is left of `length_ns` that began at `begin_ns`, which is now unless said; at least 0.
class time_left {
 public:
  explicit time_left(std::int64_t length_ns, std::int64_t begin_ns = now_ns()) noexcept
      : length_(length_ns), begin_(begin_ns) {}
  [[nodiscard]] std::int64_t ns() const noexcept {
    return std::max<std::int64_t>(length_ - (now_ns() - begin_), 0);
  }
  [[nodiscard]] int milliseconds() const noexcept { // rounded up
    return static_cast<int>((ns() + ns_a_millisecond - 1) / ns_a_millisecond);
  }

 private:
  std::int64_t length_, begin_;
};

} // namespace weft::os
