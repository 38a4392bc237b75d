// SPDX-License-Identifier: MIT
// What the demo measured, as the page and the JSON file need it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/uts/adapter.hpp"
#include "apps/uts/json.hpp"
#include "apps/uts/machine.hpp"

namespace weft::uts {

/// One tree on one runtime with one number of workers; several repetitions.
struct measurement {
  const tree* input = nullptr;
  const adapter* runtime = nullptr;
  int workers = 1;
  std::vector<double> seconds; ///< one a repetition, in the order run
  std::size_t peak_bytes = 0;  ///< the highest of all repetitions
  counts found;                ///< of the last repetition, or of the first that was wrong
  std::string failure;         ///< empty if each repetition gave the three published numbers

  [[nodiscard]] bool ok() const { return failure.empty(); }
  [[nodiscard]] double median_seconds() const; ///< 0 if nothing was measured
  [[nodiscard]] double nodes_per_second() const;
};

struct blocked_measurement {
  blocked_result result;
  std::size_t stack_bytes = 0;
  std::size_t wanted = 0; ///< fewer threads than that were run if memory does not suffice
  int workers = 1;
  std::string failure;

  [[nodiscard]] double resident_per_thread() const;
  [[nodiscard]] double tables_per_thread() const;
};

struct timeline_measurement {
  const tree* input = nullptr;
  int workers = 1;
  double seconds = 0;
  json::value trace; ///< in the Chrome trace event format
  std::string failure;
};

struct results {
  machine_facts machine;
  bool quick = false;
  double seconds = 0; ///< of the whole demo
  std::vector<measurement> measurements;
  std::optional<blocked_measurement> blocked;
  std::optional<timeline_measurement> timeline;
  bool weft_built = false;
  std::vector<std::string> notes; ///< what was left out, and why

  [[nodiscard]] int checks() const;
  [[nodiscard]] int failed_checks() const;
};

/// Everything but the trace's events.
json::value to_json(const results& r);

/// The self-contained page.
std::string to_html(const results& r);

} // namespace weft::uts
