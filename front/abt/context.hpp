// SPDX-License-Identifier: MIT
// Who calls, as the C API tells callers apart.
#pragma once

#include <cstdint>
#include <ctime>

#include "weft/os/clock.hpp"
#include "weft/sched/worker.hpp"

namespace weft::abt {

struct xstream;

enum class caller : std::uint8_t {
  foreign, // a kernel thread that runs no unit of Weft's
  thread,  // a ULT, a scheduler's included; also a weft::thread
  tasklet,
  loop // the loop of a stream itself: callbacks of pools and of migrations run there
};

inline caller who() noexcept {
  if (!sched::on_worker())
    return caller::foreign;
  switch (sched::here().current->kind()) {
  case unit::kind_thread:
    return caller::thread;
  case unit::kind_tasklet:
    return caller::tasklet;
  default:
    return caller::loop;
  }
}

// The stream that runs the caller; null on kernel threads and on workers that are no streams.
inline xstream* stream_here() noexcept {
  return sched::on_worker() ? static_cast<xstream*>(sched::here().front) : nullptr;
}

// The unit that calls, if it runs on a stream; else null. For caller::loop: what stands for the loop.
inline sched::descriptor* unit_here() noexcept {
  return stream_here() != nullptr ? sched::here().current : nullptr;
}

// For callers that may not suspend, a tasklet or a stream's loop: blocks the kernel thread. The pauses bound
// both the load and the delay.
template <class Done>
void poll_until(Done done) {
  constexpr std::int64_t longest = 50'000;
  for (std::int64_t pause = 1'000; !done(); pause = pause < longest ? 2 * pause : pause)
    os::sleep_ns(pause);
}

// For waits up to a moment of CLOCK_REALTIME.
sched::deadline deadline_of(const std::timespec& realtime) noexcept;
// For waits of so many seconds from now; at most a few hundred years.
sched::deadline deadline_in(double seconds) noexcept;

} // namespace weft::abt
