// SPDX-License-Identifier: MIT
#include "weft/trace/summary.hpp"

#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstdio>

#include "weft/trace/output_file.hpp"

namespace weft::trace {
namespace {

constexpr std::size_t rows = 10;
constexpr std::size_t widest_matrix = 16;

[[gnu::format(printf, 2, 3)]] void add(std::string& text, const char* format, ...) {
  std::array<char, 256> line{};
  std::va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(line.data(), line.size(), format, arguments);
  va_end(arguments);
  text += line.data();
}

// Four digits at most and a unit: "812 ns", "3.41 us".
std::string time_text(std::uint64_t ns) {
  struct unit {
    double ns;
    const char* name;
  };
  constexpr std::array<unit, 4> units{{{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}}};
  const auto value = static_cast<double>(ns);
  const auto* u = std::find_if(units.begin(), units.end() - 1, [&](const unit& x) { return value >= x.ns; });
  const double shown = value / u->ns;
  const int decimals = u->ns == 1 || shown >= 100 ? 0 : shown >= 10 ? 1 : 2;
  std::string text;
  add(text, "%.*f %s", decimals, shown, u->name);
  return text;
}

// Names come from programs and files: a terminal gets printable ASCII only.
std::string printable(const std::string& name, std::size_t longest) {
  std::string text = name;
  if (name.size() > longest) { // without its middle, as in name_table
    const std::size_t head = (longest - 3) / 2;
    text = name.substr(0, head) + "..." + name.substr(name.size() - (longest - 3 - head));
  }
  std::replace_if(text.begin(), text.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return text;
}

void add_workers(std::string& text, const summary& s) {
  add(text, "\n%-10s %8s %10s %8s %8s %11s %9s %9s\n", "worker", "running", "searching", "parked", "loop",
      "runs", "steals", "dropped");
  for (const worker_summary& w : s.workers) {
    const double whole = static_cast<double>(
        std::max<std::uint64_t>(1, w.running_ns + w.searching_ns + w.parked_ns + w.loop_ns));
    const auto percent = [whole](std::uint64_t ns) { return 100 * static_cast<double>(ns) / whole; };
    add(text, "%-10u %7.1f%% %9.1f%% %7.1f%% %7.1f%% %11llu %9llu %9llu\n", w.number, percent(w.running_ns),
        percent(w.searching_ns), percent(w.parked_ns), percent(w.loop_ns), wide(w.runs), wide(w.steals),
        wide(w.dropped));
  }
}

void add_latency(std::string& text, const latency_summary& l) {
  const std::array<const histogram*, 3> all{&l.woken, &l.created, &l.yielded};
  const std::array<const char*, 3> names{"woken", "created", "yielded"};
  add(text, "\nfrom ready to running %10s %10s %10s %10s %10s\n", "count", "mean", "p50", "p99", "max");
  for (std::size_t i = 0; i < all.size(); ++i) {
    const histogram& h = *all[i];
    if (h.count() == 0) {
      continue;
    }
    add(text, "%-21s %10llu %10s %10s %10s %10s\n", names[i], wide(h.count()),
        time_text(h.sum() / h.count()).c_str(), time_text(h.percentile(0.5)).c_str(),
        time_text(h.percentile(0.99)).c_str(), time_text(h.largest()).c_str());
  }
  const std::uint64_t largest = std::max({l.woken.largest(), l.created.largest(), l.yielded.largest()});
  bool begun = false;
  for (unsigned power = 0; power < 64 && (std::uint64_t{1} << power) <= std::max<std::uint64_t>(1, largest);
       ++power) {
    const std::array<std::uint64_t, 3> counts{l.woken.in_octave(power), l.created.in_octave(power),
                                              l.yielded.in_octave(power)};
    begun = begun || counts[0] + counts[1] + counts[2] != 0;
    if (begun) {
      add(text, "  from %-14s %10llu %10llu %10llu   woken, created, yielded\n",
          time_text(power == 0 ? 0 : std::uint64_t{1} << power).c_str(), wide(counts[0]), wide(counts[1]),
          wide(counts[2]));
    }
  }
}

void add_matrix(std::string& text, const summary& s) {
  add(text, "\nsteals: thief, then from which worker\n%-7s", "");
  for (const worker_summary& w : s.workers) {
    add(text, " %8u", w.number);
  }
  add(text, " %8s\n", "others");
  for (std::size_t thief = 0; thief < s.workers.size(); ++thief) {
    add(text, "%-7u", s.workers[thief].number);
    for (const std::uint64_t count : s.steals[thief]) {
      add(text, " %8llu", wide(count));
    }
    text += '\n';
  }
}

// Where a matrix would be too wide: the pairs that stole most.
void add_pairs(std::string& text, const summary& s) {
  struct pair {
    std::uint64_t count;
    std::size_t thief;
    std::size_t victim;
  };
  std::vector<pair> pairs;
  for (std::size_t thief = 0; thief < s.workers.size(); ++thief) {
    for (std::size_t victim = 0; victim <= s.workers.size(); ++victim) {
      if (s.steals[thief][victim] != 0) {
        pairs.push_back({s.steals[thief][victim], thief, victim});
      }
    }
  }
  const auto shown = static_cast<std::ptrdiff_t>(std::min(2 * rows, pairs.size()));
  std::partial_sort(pairs.begin(), pairs.begin() + shown, pairs.end(),
                    [](const pair& a, const pair& b) { return a.count > b.count; });
  add(text, "\nsteals, the most frequent: thief, worker stolen from, count\n");
  std::for_each(pairs.begin(), pairs.begin() + shown, [&](const pair& p) {
    const bool listed = p.victim < s.workers.size();
    add(text, "%-7u %8s %8llu\n", s.workers[p.thief].number,
        listed ? std::to_string(s.workers[p.victim].number).c_str() : "others", wide(p.count));
  });
}

void add_locks(std::string& text, const summary& s) {
  add(text, "\n%-18s %9s %9s %10s %10s  %s\n", "contended lock", "waits", "go on", "total", "longest",
      "held by");
  for (std::size_t i = 0; i < std::min(rows, s.locks.size()); ++i) {
    const lock_summary& l = s.locks[i];
    add(text, "0x%-16llx %9llu %9llu %10s %10s  %s\n", wide(l.address), wide(l.waits), wide(l.waiting),
        time_text(l.total_ns).c_str(), time_text(l.longest_ns).c_str(), printable(l.held_by, 36).c_str());
  }
  if (s.locks.size() > rows) {
    add(text, "and %zu more\n", s.locks.size() - rows);
  }
}

void add_names(std::string& text, const summary& s) {
  add(text, "\n%-48s %9s %9s %10s %10s\n", "units", "runs", "ended", "running", "longest");
  for (std::size_t i = 0; i < std::min(rows, s.names.size()); ++i) {
    const name_summary& n = s.names[i];
    add(text, "%-48s %9llu %9llu %10s %10s\n", printable(n.name, 48).c_str(), wide(n.runs), wide(n.ended),
        time_text(n.running_ns).c_str(), time_text(n.longest_ns).c_str());
  }
  if (s.names.size() > rows) {
    add(text, "and %zu more\n", s.names.size() - rows);
  }
}

bool any_steal(const summary& s) {
  return std::any_of(s.workers.begin(), s.workers.end(),
                     [](const worker_summary& w) { return w.steals != 0; });
}

} // namespace

std::string to_text(const summary& s) {
  std::string text;
  add(text, "%s, process %d: %s, %llu events of %zu workers", printable(s.program, 40).c_str(), s.process,
      time_text(s.length_ns).c_str(), wide(s.events), s.workers.size());
  if (s.dropped != 0) {
    add(text, "; %llu older ones were dropped", wide(s.dropped));
  }
  text += '\n';
  if (s.workers.empty()) {
    text += "no worker did anything\n";
    return text;
  }
  add_workers(text, s);
  if (s.latency.woken.count() + s.latency.created.count() + s.latency.yielded.count() != 0) {
    add_latency(text, s.latency);
  }
  if (any_steal(s)) {
    s.workers.size() <= widest_matrix ? add_matrix(text, s) : add_pairs(text, s);
  }
  if (!s.locks.empty()) {
    add_locks(text, s);
  }
  add_names(text, s);
  return text;
}

} // namespace weft::trace
