// SPDX-License-Identifier: MIT
// The file: Chrome's Trace Event format in JSON, which Perfetto and chrome://tracing open.
// Format: "Trace Event Format", the document linked from the Perfetto and Catapult projects.
#pragma once

#include "weft/base/export.hpp"
#include "weft/trace/recording.hpp"

namespace weft::trace {

// Creates or replaces the file, whose time 0 is the recording's begin. A stretch that began before the oldest
// event of its worker starts there; one that goes on ends at end_ns. Contexts: thread, foreign kernel thread;
// not signal handlers. Switches: never (the kernel thread may block). Errors: 0 or an errno value; the file
// may be there in part.
[[nodiscard]] WEFT_API int write_timeline(const char* path, const recording& what) noexcept;

} // namespace weft::trace
