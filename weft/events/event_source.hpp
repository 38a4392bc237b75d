// SPDX-License-Identifier: MIT
// Something outside that makes units ready: I/O, a foreign runtime, a network. Workers of the group it is
// added to poll it (Argobots' event pool; the seam through which the io room and MPI progress reach idle
// workers).
#pragma once

#include <chrono>

#include "weft/base/export.hpp"
#include "weft/events/timer_queue.hpp"
#include "weft/os/doorbell.hpp"

namespace weft::sched {

struct worker;

class WEFT_API event_source {
 public:
  virtual ~event_source() = default;

  // Makes ready what can be; returns how many events it handled. Called by one worker at a time, every 251
  // scheduling decisions and when the worker is idle: on its loop's stack (256 KiB), or on that of a thread
  // which forks, of which 32 KiB may be left. What needs more borrows it (door/roomy_call.hpp). Switches:
  // never, it may not wait.
  virtual int poll() = 0;

  // How long a poll may be put off while every worker sleeps; one that serves the source then wakes to poll,
  // and the others after four times as long. nanoseconds::max(): never, because whoever produces the events
  // pushes units or calls group::wake().
  [[nodiscard]] virtual std::chrono::nanoseconds patience() const { return std::chrono::nanoseconds::max(); }
};

// One in which an idle worker can sleep until there is an event. A group has at most one, which the io room
// makes; at most one worker of the group sleeps in it at a time (watch, parking.hpp), the others sleep on
// their own words.
class WEFT_API waiting_source : public event_source {
 public:
  // Sleeps until there are events, the time is over or the bell rings; keeps the events. Called by the one
  // worker that has the watch, on its own stack; poll() may be called by another meanwhile. Switches: never.
  virtual void wait(deadline until) = 0;
  // Makes ready what the events kept by wait() are for; called by the same worker, before it gives the watch
  // up. Returns how many there were.
  virtual int deliver() = 0;
  // Ends a wait() that is under way, or the next one.
  [[nodiscard]] virtual os::doorbell& bell() noexcept = 0;
  // Whether an event could make somebody ready. RACY; a source that cannot tell says yes.
  [[nodiscard]] virtual bool has_waiters() const noexcept { return true; }
  // Readable while there are events; for loops that are not Weft's.
  [[nodiscard]] virtual int descriptor() const noexcept = 0;
  // In the child of fork(): gives back what is shared with the parent. The object is leaked afterwards.
  virtual void abandon_after_fork() noexcept = 0;
};

} // namespace weft::sched
