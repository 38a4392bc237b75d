// SPDX-License-Identifier: MIT
// What a recording says, in numbers: where the workers' time went, how long ready units waited, who stole
// from whom, which locks held others up, and which threads ran.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "weft/base/export.hpp"
#include "weft/trace/histogram.hpp"
#include "weft/trace/recording.hpp"

namespace weft::trace {

/// Nanoseconds of one worker, from its oldest event on (all of the recording, if none was dropped). Their sum
/// is that span.
struct worker_summary {
  unsigned number = 0; // in its group
  std::uint32_t track = 0;
  std::uint64_t running_ns = 0;   // a unit ran
  std::uint64_t searching_ns = 0; // it had none and looked for one
  std::uint64_t parked_ns = 0;    // it slept
  std::uint64_t loop_ns = 0;      // the rest: between two units
  std::uint64_t runs = 0;         // units started or continued
  std::uint64_t steals = 0;
  std::uint64_t dropped = 0; // events that are missing
};

/// From the moment a unit could run to the moment it did.
struct latency_summary {
  histogram woken;   // it had waited
  histogram created; // it was new
  histogram yielded; // it had yielded
};

struct lock_summary {
  std::uint64_t address = 0;
  std::uint64_t waits = 0;   // that have ended
  std::uint64_t waiting = 0; // that went on at the end, counted to there
  std::uint64_t total_ns = 0;
  std::uint64_t longest_ns = 0;
  std::string held_by; // the name of whoever made others wait most often; empty: not known
};

/// All units of one name: the one they were given, else that of their function.
struct name_summary {
  std::string name;
  std::uint64_t runs = 0;
  std::uint64_t ended = 0;
  std::uint64_t running_ns = 0;
  std::uint64_t longest_ns = 0; // without a stop
};

struct summary {
  std::string program;
  int process = 0;
  std::uint64_t length_ns = 0;
  std::uint64_t events = 0;
  std::uint64_t dropped = 0;
  std::vector<worker_summary> workers; // those that recorded anything
  latency_summary latency;
  /// How often workers[thief] stole from workers[victim]; the last column is for victims that are not listed,
  /// or pools that several workers share.
  std::vector<std::vector<std::uint64_t>> steals;
  std::vector<lock_summary> locks; // the longest total first
  std::vector<name_summary> names; // the longest total first
};

/// *Contexts*: thread with some 16 KiB of stack left, foreign kernel thread. *Switches*: never. *Errors*:
/// std::bad_alloc.
[[nodiscard]] WEFT_API summary summarise(const recording& what);

/// For people: tables of at most 100 columns. The ten first of the locks and names. *Contexts*, *Switches*,
/// *Errors*: as summarise().
[[nodiscard]] WEFT_API std::string to_text(const summary& s);

} // namespace weft::trace
