// SPDX-License-Identifier: MIT
// The workers' timeline, drawn from a trace in the Chrome trace event format: what each worker did, in self
// time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/uts/json.hpp"

namespace weft::uts {

/// A stretch of one lane in which nothing nested ran. Times in microseconds from the first event.
struct stretch {
  double begin = 0;
  double end = 0;
  std::size_t kind = 0; ///< index into timeline::kinds
};

struct lane {
  std::string name;
  std::vector<stretch> stretches; ///< in order of time, without overlap
};

struct event_kind {
  std::string name;
  double total = 0; ///< microseconds, over all lanes
  std::uint64_t number = 0;
};

struct timeline {
  std::vector<lane> lanes;
  std::vector<event_kind> kinds;    ///< with durations, the longest total first
  std::vector<event_kind> instants; ///< without
  double length = 0;                ///< microseconds
};

/// Understands complete (X), begin and end (B, E), instant (i, I) and thread-name (M) events; others are
/// passed over.
timeline read_timeline(const json::value& trace);

/// SVG of the lanes between two times. Colours are classes "k0" to "k6" by kind, as in `timeline_legend`.
std::string timeline_plot(const timeline& t, double begin, double end);

/// HTML list of the kinds with their colours and shares.
std::string timeline_legend(const timeline& t);

/// A stretch of time in which all lanes have work, as far as there is one, short enough to show some `events`
/// of the busiest lane one by one.
std::pair<double, double> timeline_detail(const timeline& t, std::size_t events);

} // namespace weft::uts
