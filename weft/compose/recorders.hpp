// SPDX-License-Identifier: MIT
// Recorders: told of what threads and workers do. One object a worker, made and destroyed with it.
#pragma once

#include "weft/trace/event.hpp"

namespace weft::compose {

// The default: nothing, at no cost.
struct no_recorder {
  // `unit`: which thread, null where the event is the worker's. Called by the worker, often on a thread's
  // stack: it may not wait. trace::event says what there is; migrate does not occur.
  static void note(trace::event, const void*) noexcept {}
};

} // namespace weft::compose
