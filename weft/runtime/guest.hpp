// SPDX-License-Identifier: MIT
// Weft as a guest in an event loop of somebody else's: a toolkit's, a server's. main() runs that loop on
// worker 0, and lets the worker run in between.
#pragma once

#include "weft/base/export.hpp"
#include "weft/os/doorbell.hpp"

#include <chrono>

namespace weft::runtime {

/// Meant for one worker, as loops mostly have one kernel thread; with more, a thread that runs on another one
/// and has something to tell the loop must do so by the loop's own means. *Ownership*: the thread of main(),
/// which makes, uses and destroys it; one at a time. The loop:
///
///   weft::runtime::guest weft;
///   for (;;) {
///     const bool more = weft.run(1ms);
///     poll({weft.descriptor(), ...}, more ? 0 : as long as the loop likes);
///     ... // what the loop does for others
///   }
class WEFT_API guest {
 public:
  /// *Contexts*: the thread that main() is, on worker 0 of the default runtime (it starts that). *Errors*:
  /// std::system_error: operation_not_permitted elsewhere; EMFILE, ENFILE, ENOMEM.
  guest();
  ~guest();
  guest(const guest&) = delete;
  guest& operator=(const guest&) = delete;

  /// Readable when the worker has something to do: a thread became ready, an event came, a timer is due. For
  /// poll(2), select(2) and a level-triggered epoll(7).
  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

  /// Runs what is ready on the worker, until nothing is or the time is over; true: there is more. To be
  /// called right before the loop waits, each time: then nothing that became ready meanwhile is forgotten,
  /// also not what the loop's own callbacks did. *Contexts*: as the constructor. *Switches*: may. *Errors*:
  /// std::system_error, std::bad_alloc: no timer could be had.
  bool run(std::chrono::nanoseconds most);

 private:
  void come_back() noexcept;

  os::doorbell::lease bell_;
  int descriptor_ = -1;
  int timer_ = -1;
  bool is_away_ = false;
  bool watches_ = false;
};

} // namespace weft::runtime
