// SPDX-License-Identifier: MIT
// Event sources: what outside makes threads ready. One object a runtime: composed<P>::event_sources().
#pragma once

namespace weft::compose {

// The default: none.
struct no_event_sources {
  // Makes ready what can be. Called by one worker at a time, when it has nothing to run and from time to time
  // else; it may not wait.
  static void poll() noexcept {}
  // Whether a worker without work must go on polling instead of going to sleep.
  [[nodiscard]] static bool active() noexcept { return false; }
};

} // namespace weft::compose
