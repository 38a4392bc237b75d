// SPDX-License-Identifier: MIT
// The file: Chrome's Trace Event format in JSON, which Perfetto and chrome://tracing open.
// Format: "Trace Event Format", the document linked from the Perfetto and Catapult projects.
#pragma once

#include <cstdint>

#include "weft/base/export.hpp"
#include "weft/trace/event.hpp"
#include "weft/trace/ring.hpp"

namespace weft::trace {

// What is written; begin and end in nanoseconds of os::now_ns(), of which begin is the file's time 0.
struct timeline {
  std::int64_t begin_ns;
  std::int64_t end_ns;
  const ring* rings;
  counters totals;
};

// Creates or replaces the file. A stretch that began before the oldest event of its worker starts there; one
// that goes on ends at end_ns. Contexts: thread, foreign kernel thread; not signal handlers. Switches: never
// (the kernel thread may block). Errors: 0 or an errno value; the file may be there in part.
[[nodiscard]] WEFT_API int write_timeline(const char* path, const timeline& what) noexcept;

} // namespace weft::trace
