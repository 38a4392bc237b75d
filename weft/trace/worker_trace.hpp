// SPDX-License-Identifier: MIT
// What a worker records and counts. Ownership: the worker.
#pragma once

#include "weft/trace/event.hpp"
#include "weft/trace/recorder.hpp"

namespace weft::trace {

struct worker_trace {
  trace::recorder recorder;
  trace::counters counters;
};

} // namespace weft::trace
