// SPDX-License-Identifier: MIT
// Each step is one child process. Repetitions go round the runtimes, so that a noisy minute does not hit
// one of them only.

#include "apps/uts/plan.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "apps/uts/format.hpp"
#include "apps/uts/process.hpp"
#include "apps/uts/progress.hpp"

namespace weft::uts {
namespace {

constexpr const char* timeline_tree = "mini";
constexpr std::size_t blocked_reserve_bytes = std::size_t{512} << 20; // left to the rest of the machine
constexpr int blocked_page_bytes = 4096 + 512; // a touched page of stack, descriptor, page tables

bool chosen(const std::vector<std::string>& names, std::string_view name) {
  return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
}

// A quick run on a slow or busy machine leaves repetitions and large trees out rather than take longer.
constexpr double quick_repetition_seconds = 20; // no further repetition is begun after so long
constexpr double quick_large_seconds = 105;     // no large tree is begun that would end later

struct step {
  std::size_t row; // index of the measurement
  int repetition;
  double weight;
};

using clock = std::chrono::steady_clock;

class demo {
 public:
  explicit demo(const demo_options& options) : options_(options) {
    results_.machine = this_machine();
    results_.quick = options.quick;
    results_.weft_built = static_cast<bool>(extras().block_threads);
    if (options_.workers == 0) {
      options_.workers = results_.machine.workers;
    }
  }

  results run() {
    const auto begin = clock::now();
    plan_counts();
    const bool with_weft = results_.weft_built && chosen(options_.runtimes, "weft");
    const bool with_blocked = with_weft && options_.blocked_threads > 0;
    const double blocked_weight = with_blocked ? static_cast<double>(options_.blocked_threads) * 20 : 0;
    double weight = blocked_weight;
    for (const step& s : steps_) {
      weight += s.weight;
    }
    progress shown(steps_.size() + with_blocked + with_weft, weight);
    shown.note(headline());
    for (const step& s : steps_) {
      measurement& m = results_.measurements[s.row];
      if (!options_.quick || !too_late(s, std::chrono::duration<double>(clock::now() - begin).count())) {
        count(m, s.weight, shown);
      } else {
        shown.skip(s.repetition > 0 ? "" : step_name(m) + ": left out, to end in time", s.weight);
      }
    }
    note_left_out();
    if (with_blocked) {
      block(blocked_weight, shown);
    }
    if (with_weft) {
      trace(shown);
    }
    results_.seconds = std::chrono::duration<double>(clock::now() - begin).count();
    return std::move(results_);
  }

 private:
  [[nodiscard]] std::string headline() const {
    const machine_facts& m = results_.machine;
    return format("Counting the UTS trees, one task a node, %s; %s, %s, SHA-1 %s, commit %s",
                  options_.quick ? "quick" : "full", m.processor.c_str(),
                  workers_text(options_.workers).c_str(), m.sha1.c_str(), m.commit.c_str());
  }

  static std::string step_name(const measurement& m) {
    return format("%-4s %s, %s", m.input->name().data(), m.runtime->short_title().c_str(),
                  workers_text(m.workers).c_str());
  }

  // By the rate of the same runtime and workers on a tree before.
  [[nodiscard]] bool too_late(const step& s, double now) const {
    const measurement& m = results_.measurements[s.row];
    if (s.repetition > 0) {
      return now > quick_repetition_seconds;
    }
    for (const measurement& known : results_.measurements) {
      if (known.runtime == m.runtime && known.workers == m.workers && known.nodes_per_second() > 0) {
        return now + static_cast<double>(m.input->published().nodes) / known.nodes_per_second() >
               quick_large_seconds;
      }
    }
    return false;
  }

  // Rows that were never run, and never failed, are no results.
  void note_left_out() {
    std::erase_if(results_.measurements, [&](const measurement& m) {
      const bool left_out = m.seconds.empty() && m.ok();
      if (left_out) {
        results_.notes.push_back(step_name(m) + ": left out, the quick run would have taken too long");
      }
      return left_out;
    });
  }

  void plan_counts() {
    for (const tree& t : published_trees()) {
      if (t.name() == timeline_tree || !chosen(options_.trees, t.name())) {
        continue;
      }
      const bool large = t.published().nodes > 10'000'000;
      const std::size_t first = results_.measurements.size();
      for (const adapter& a : adapters()) {
        add_rows(t, a, large);
      }
      const int repetitions = large ? 1 : 3;
      for (int r = 0; r < repetitions; ++r) {
        for (std::size_t row = first; row < results_.measurements.size(); ++row) {
          const measurement& m = results_.measurements[row];
          steps_.push_back({row, r, static_cast<double>(t.published().nodes) / m.workers});
        }
      }
    }
  }

  // Quick: the large trees on Weft and all workers only, which still checks every published number.
  void add_rows(const tree& t, const adapter& a, bool large) {
    const bool left_out = options_.quick && large && a.name != "weft";
    if (!chosen(options_.runtimes, a.name) || left_out) {
      return;
    }
    const auto add = [&](int workers) {
      measurement m;
      m.input = &t;
      m.runtime = &a;
      m.workers = workers;
      results_.measurements.push_back(m);
    };
    if (!(options_.quick && large) || options_.workers == 1) {
      add(1);
    }
    if (a.parallel && options_.workers > 1) {
      add(options_.workers);
    }
  }

  // Runs a child; its report, or null and the reason.
  json::value child(const std::vector<std::string>& arguments, const watcher& tick,
                    std::string& failure) const {
    const process_result p =
        run_self(arguments, {"OMP_STACKSIZE=1G", "OMP_DYNAMIC=false"}, options_.limit_seconds, tick);
    failure = p.failure;
    if (!p.ok) {
      return {};
    }
    try {
      return json::parse(p.output);
    } catch (const std::runtime_error& e) {
      failure = e.what();
      return {};
    }
  }

  void count(measurement& m, double weight, progress& shown) const {
    const std::string name = step_name(m);
    shown.begin(name, weight);
    std::string failure;
    const json::value report = child(
        {"run-one", "--tree", std::string(m.input->name()), "--runtime", m.runtime->name, "--workers",
         std::to_string(m.workers)},
        [&](double s, std::size_t bytes) { shown.tick(s, bytes); }, failure);
    const double seconds = report.number_at("seconds");
    if (failure.empty()) {
      m.seconds.push_back(seconds);
      m.peak_bytes = std::max(m.peak_bytes, static_cast<std::size_t>(report.number_at("peak_bytes")));
      const counts found = counts_of(report);
      if (m.ok()) {
        m.found = found;
      }
      if (found != m.input->published()) {
        failure = format("found %s nodes, depth %s, %s leaves", with_commas(found.nodes).c_str(),
                         with_commas(found.max_depth).c_str(), with_commas(found.leaves).c_str());
      }
    }
    if (m.ok()) {
      m.failure = failure;
    }
    const double rate = seconds > 0 ? static_cast<double>(m.input->published().nodes) / seconds : 0;
    shown.end(failure.empty()
                  ? format("%-29s %9s nodes/s  %8s  %9s peak", name.c_str(), rate_text(rate).c_str(),
                           seconds_text(seconds).c_str(), bytes_text(report.number_at("peak_bytes")).c_str())
                  : name + ": " + failure,
              failure.empty());
  }

  static counts counts_of(const json::value& report) {
    return {static_cast<std::uint64_t>(report.number_at("nodes")),
            static_cast<std::uint64_t>(report.number_at("leaves")),
            static_cast<std::uint64_t>(report.number_at("max_depth"))};
  }

  void block(double weight, progress& shown) {
    blocked_measurement& b = results_.blocked.emplace();
    b.wanted = options_.blocked_threads;
    b.stack_bytes = options_.stack_bytes;
    b.workers = options_.workers;
    const std::size_t available = this_machine().memory_available;
    const std::size_t usable = available > blocked_reserve_bytes ? available - blocked_reserve_bytes : 0;
    const std::size_t threads = available == 0 ? b.wanted : std::min(b.wanted, usable / blocked_page_bytes);
    const std::string name = with_commas(threads) + " blocked threads, " + workers_text(b.workers);
    shown.begin(name, weight);
    const json::value report = child(
        {"run-blocked", "--threads", std::to_string(threads), "--stack", std::to_string(b.stack_bytes),
         "--workers", std::to_string(b.workers)},
        [&](double s, std::size_t bytes) { shown.tick(s, bytes); }, b.failure);
    read_blocked(report, b.result);
    if (b.failure.empty() && threads < b.wanted) {
      b.failure = format("only %s threads fit the memory available here (%s)", with_commas(threads).c_str(),
                         bytes_text(static_cast<double>(available)).c_str());
    } else if (b.failure.empty() && (b.result.arrived != threads || b.result.woken != threads)) {
      b.failure = format("%zu blocked at once, %zu woken, of %zu", b.result.arrived, b.result.woken, threads);
    }
    shown.end(b.failure.empty() ? format("%-29s %.0f + %.0f bytes a thread (resident + page tables)",
                                         name.c_str(), b.resident_per_thread(), b.tables_per_thread())
                                : name + ": " + b.failure,
              b.failure.empty());
  }

  static void read_blocked(const json::value& report, blocked_result& r) {
    const auto size = [&](const char* key) { return static_cast<std::size_t>(report.number_at(key)); };
    r.threads = size("threads");
    r.arrived = size("arrived");
    r.woken = size("woken");
    r.resident_before = size("resident_before");
    r.resident_blocked = size("resident_blocked");
    r.resident_after = size("resident_after");
    r.tables_before = size("tables_before");
    r.tables_blocked = size("tables_blocked");
    r.tables_after = size("tables_after");
    r.seconds_to_block = report.number_at("seconds_to_block");
    r.seconds_to_wake = report.number_at("seconds_to_wake");
  }

  void trace(progress& shown) {
    timeline_measurement& t = results_.timeline.emplace();
    t.input = find_tree(timeline_tree);
    t.workers = options_.workers;
    const std::string name = "timeline of a small tree, " + workers_text(t.workers);
    shown.begin(name, 0);
    const json::value report = child(
        {"run-trace", "--tree", timeline_tree, "--workers", std::to_string(t.workers), "--output",
         options_.trace_path},
        [&](double s, std::size_t bytes) { shown.tick(s, bytes); }, t.failure);
    t.seconds = report.number_at("seconds");
    if (t.failure.empty() && counts_of(report) != t.input->published()) {
      t.failure = "the traced run counted wrong";
    }
    if (t.failure.empty()) {
      try {
        std::ifstream file(options_.trace_path);
        std::ostringstream text;
        text << file.rdbuf();
        t.trace = json::parse(text.str());
      } catch (const std::runtime_error& e) {
        t.failure = options_.trace_path + ": " + e.what();
      }
    }
    shown.end(t.failure.empty() ? name + ": " + options_.trace_path : name + ": " + t.failure,
              t.failure.empty());
  }

  demo_options options_;
  results results_;
  std::vector<step> steps_;
};

} // namespace

results run_demo(const demo_options& options) {
  return demo(options).run();
}

} // namespace weft::uts
