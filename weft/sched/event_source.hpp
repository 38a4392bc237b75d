// SPDX-License-Identifier: MIT
// Something outside that makes units ready: I/O, a foreign runtime, a network. Workers of the group it is
// added to poll it (Argobots' event pool; the seam through which the io room and MPI progress reach idle
// workers).
#pragma once

#include <chrono>

#include "weft/base/export.hpp"

namespace weft::sched {

struct worker;

class WEFT_API event_source {
 public:
  virtual ~event_source() = default;

  // Makes ready what can be; returns how many events it handled. Called by one worker at a time, on the
  // worker's own stack, every 251 scheduling decisions and when the worker is idle. Switches: never, it
  // may not wait.
  virtual int poll() = 0;

  // How long a poll may be put off while every worker sleeps; a worker that serves the source then wakes to
  // poll. nanoseconds::max(): never, because whoever produces the events pushes units or calls group::wake().
  [[nodiscard]] virtual std::chrono::nanoseconds patience() const { return std::chrono::nanoseconds::max(); }
};

} // namespace weft::sched
