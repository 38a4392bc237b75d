// SPDX-License-Identifier: MIT
// A timeline of the workers: what ran where and when, who stole, who slept. Off, it adds no instruction to
// any path; on, each switch goes through the scheduler's loop and is recorded. WEFT_TRACE=file does the same
// for a whole run without a change of the program. How to read the file: docs/guide/tracing.md.
//
//   weft::trace::start("run.json");
//   work();
//   weft::trace::stop();   // open run.json in ui.perfetto.dev or chrome://tracing
#pragma once

#include <cstdint>
#include <string>

#include "weft/base/export.hpp"
#include "weft/trace/event.hpp"
#include "weft/trace/summary.hpp"

namespace weft::trace {

/// Starts recording on all workers there are and on those that come; stop() will write to `path`: in the raw
/// form that the tool weft reads, if it ends in ".weft", else as a timeline in JSON. Each worker keeps its
/// newest WEFT_TRACE_EVENTS events. *Contexts*: thread, tasklet, foreign kernel thread. *Switches*: never.
/// *Errors*: std::system_error, nothing has changed then: `path` is empty (invalid_argument), recording is on
/// (operation_in_progress, also where the tool weft has started it), the last trace has been neither written
/// nor discarded (device_or_resource_busy).
WEFT_API void start(std::string path);

/// The same without a file, for stop_and_summarise(). *Contexts*, *Switches*, *Errors*: as start(path).
WEFT_API void start();

/// Ends recording and writes the file; without a recording, writes what an earlier stop() could not.
/// *Contexts*: as start(). *Switches*: never; the kernel thread blocks while the file is written. *Errors*:
/// std::system_error that names the path; the events are kept: call write() with another path, stop() to try
/// again, or discard().
WEFT_API void stop();

/// Ends recording and says what it has found; then the events are gone. Without a recording, says it of what
/// an earlier stop() could not write. *Contexts*: thread with some 16 KiB of stack left, foreign kernel
/// thread. *Switches*: never. *Errors*: std::bad_alloc; recording has ended then, and stop_and_summarise()
/// may be called again.
[[nodiscard]] WEFT_API summary stop_and_summarise();

/// Writes what a stop() that failed has kept, to another path. *Contexts*, *Switches*, *Errors*: as stop(),
/// and operation_in_progress while recording.
WEFT_API void write(const std::string& path);

/// Forgets what a stop() that failed has kept. *Contexts*: as start(). *Switches*: never. *Errors*: none.
WEFT_API void discard() noexcept;

/// Whether events are being recorded. *Contexts*: any. *Switches*: never. *Errors*: none.
[[nodiscard]] WEFT_API bool active() noexcept;

/// The counters of all workers there are or were, summed; they count whether or not a trace is on. Exact for
/// workers that stand still, else a moment old. *Contexts*: as start(). *Switches*: never. *Errors*: none.
[[nodiscard]] WEFT_API counters total() noexcept;

} // namespace weft::trace
