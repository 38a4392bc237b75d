// SPDX-License-Identifier: MIT
// Derived figures, and the machine-readable form.

#include "apps/uts/results.hpp"

#include <algorithm>

namespace weft::uts {
namespace {

double per_thread(std::size_t before, std::size_t blocked, std::size_t threads) {
  return threads == 0
             ? 0
             : (static_cast<double>(blocked) - static_cast<double>(before)) / static_cast<double>(threads);
}

json::value counts_json(const counts& c) {
  return json::object{{"nodes", c.nodes}, {"max_depth", c.max_depth}, {"leaves", c.leaves}};
}

json::value measurement_json(const measurement& m) {
  json::array seconds;
  for (const double s : m.seconds) {
    seconds.emplace_back(s);
  }
  return json::object{{"tree", m.input->name()},
                      {"parameters", m.input->parameters()},
                      {"runtime", m.runtime->name},
                      {"title", m.runtime->title},
                      {"workers", m.workers},
                      {"ok", m.ok()},
                      {"failure", m.failure},
                      {"found", counts_json(m.found)},
                      {"published", counts_json(m.input->published())},
                      {"seconds", std::move(seconds)},
                      {"median_seconds", m.median_seconds()},
                      {"nodes_per_second", m.nodes_per_second()},
                      {"peak_bytes", m.peak_bytes}};
}

json::value blocked_json(const blocked_measurement& b) {
  const blocked_result& r = b.result;
  return json::object{{"ok", b.failure.empty()},
                      {"failure", b.failure},
                      {"threads", r.threads},
                      {"wanted", b.wanted},
                      {"stack_bytes", b.stack_bytes},
                      {"workers", b.workers},
                      {"blocked_at_once", r.arrived},
                      {"woken", r.woken},
                      {"resident_bytes_a_thread", b.resident_per_thread()},
                      {"page_table_bytes_a_thread", b.tables_per_thread()},
                      {"resident_before", r.resident_before},
                      {"resident_blocked", r.resident_blocked},
                      {"resident_after", r.resident_after},
                      {"page_tables_before", r.tables_before},
                      {"page_tables_blocked", r.tables_blocked},
                      {"page_tables_after", r.tables_after},
                      {"seconds_to_block", r.seconds_to_block},
                      {"seconds_to_wake", r.seconds_to_wake}};
}

json::value machine_json(const machine_facts& m) {
  return json::object{{"processor", m.processor},
                      {"processors", m.processors},
                      {"workers", m.workers},
                      {"memory_bytes", m.memory},
                      {"kernel", m.kernel},
                      {"system", m.system},
                      {"compiler", m.compiler},
                      {"flags", m.build_flags},
                      {"commit", m.commit},
                      {"sha1", m.sha1},
                      {"date", m.date}};
}

} // namespace

double measurement::median_seconds() const {
  if (seconds.empty()) {
    return 0;
  }
  std::vector<double> sorted = seconds;
  std::sort(sorted.begin(), sorted.end());
  const std::size_t half = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

double measurement::nodes_per_second() const {
  const double s = median_seconds();
  return s > 0 ? static_cast<double>(input->published().nodes) / s : 0;
}

double blocked_measurement::resident_per_thread() const {
  return per_thread(result.resident_before, result.resident_blocked, result.threads);
}

double blocked_measurement::tables_per_thread() const {
  return per_thread(result.tables_before, result.tables_blocked, result.threads);
}

int results::checks() const {
  return static_cast<int>(measurements.size()) + blocked.has_value() + timeline.has_value();
}

int results::failed_checks() const {
  const auto bad =
      std::count_if(measurements.begin(), measurements.end(), [](const measurement& m) { return !m.ok(); });
  return static_cast<int>(bad) + (blocked && !blocked->failure.empty()) +
         (timeline && !timeline->failure.empty());
}

json::value to_json(const results& r) {
  json::array rows;
  for (const measurement& m : r.measurements) {
    rows.push_back(measurement_json(m));
  }
  json::object all{
      {"schema", "weft-demo/1"},  {"mode", r.quick ? "quick" : "full"}, {"seconds", r.seconds},
      {"checks", r.checks()},     {"failed_checks", r.failed_checks()}, {"machine", machine_json(r.machine)},
      {"counts", std::move(rows)}};
  if (!r.notes.empty()) {
    all.emplace_back("notes", json::array(r.notes.begin(), r.notes.end()));
  }
  if (r.blocked) {
    all.emplace_back("blocked_threads", blocked_json(*r.blocked));
  }
  if (r.timeline) {
    all.emplace_back("timeline", json::object{{"tree", r.timeline->input->name()},
                                              {"workers", r.timeline->workers},
                                              {"seconds", r.timeline->seconds},
                                              {"ok", r.timeline->failure.empty()},
                                              {"failure", r.timeline->failure}});
  }
  return all;
}

} // namespace weft::uts
