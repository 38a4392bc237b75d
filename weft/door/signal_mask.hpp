// SPDX-License-Identifier: MIT
// The signals that kernel threads of Weft's have blocked: those that their creator had when the first of them
// were made. A front whose programs block all signals around that must except the signal of ticks.
#pragma once

#include "weft/base/export.hpp"

#include <csignal>

namespace weft::door {

/// The number of the signal of ticks. *Contexts*: all but signal handlers. *Switches*: never. *Errors*: as
/// below.
[[nodiscard]] WEFT_API int signal_of_ticks();

/// In scope: the calling kernel thread has the signal of ticks open; then its mask is as it was. Around what
/// starts workers or makes the first preemptible thread. *Contexts*: foreign kernel thread. *Switches*:
/// never. *Errors*: std::system_error(invalid_argument) where that signal cannot be used.
class [[nodiscard]] ticks_open {
 public:
  WEFT_API ticks_open();
  WEFT_API ~ticks_open();
  ticks_open(const ticks_open&) = delete;
  ticks_open& operator=(const ticks_open&) = delete;

 private:
  sigset_t before_{};
};

} // namespace weft::door
