// SPDX-License-Identifier: MIT
#include "apps/uts/ranks.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "apps/uts/format.hpp"
#include "apps/uts/json.hpp"
#include "apps/uts/machine.hpp"
#include "apps/uts/process.hpp"

namespace weft::uts {
namespace {

namespace fs = std::filesystem;

struct engine {
  const char* name;
  const char* launcher; // all ranks on this machine, wherever the system puts them
};
// Open MPI yields its CPU in each look that finds nothing where ranks outnumber CPUs: a busy rank would do so
// too.
constexpr engine engines[] = {
    {"openmpi",
     "mpiexec.openmpi --oversubscribe --bind-to none --mca mpi_yield_when_idle 0 --mca btl self,vader "
     "--mca pml ob1"},
    {"mpich", "mpiexec.mpich -iface lo -bind-to none"},
};

// One line of the table: all rounds of one program on one tree.
struct row {
  std::string name;
  const engine* by = nullptr; // null: one process
  double best = std::numeric_limits<double>::infinity();
  json::value best_report;
  int failures = 0;    // rounds
  std::string failure; // of the last one that failed

  [[nodiscard]] bool has_best() const noexcept { return std::isfinite(best); }
};

fs::path folder_of_this() {
  return fs::read_symlink("/proc/self/exe").parent_path();
}

fs::path rank_program(const engine& e) {
  return folder_of_this() / (std::string("weft-demo-rank.") + e.name);
}

// The tool of the same build.
std::string weft_tool() {
  return (folder_of_this() / "../../tools/weft/weft").lexically_normal().string();
}

const tree& known_tree(const std::string& name) {
  const tree* t = find_tree(name);
  if (t == nullptr) {
    throw std::runtime_error("no tree is called " + name);
  }
  return *t;
}

process_result start(const row& r, const tree& t, const ranks_options& o) {
  const std::string name(t.name());
  if (r.by == nullptr) {
    return run_self(
        {"run-one", "--tree", name, "--runtime", "weft", "--workers", std::to_string(o.ranks * o.workers)},
        {}, o.limit_seconds, nullptr);
  }
  std::vector<std::string> environment;
  if (geteuid() == 0) { // as in containers; Open MPI would refuse
    environment = {"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"};
  }
  return run_program(weft_tool(),
                     {"mpi", "-q", "-n", std::to_string(o.ranks), "--launcher", r.by->launcher,
                      rank_program(*r.by).string(), name, std::to_string(o.workers)},
                     environment, o.limit_seconds, nullptr);
}

void run_once(row& r, const tree& t, const ranks_options& o) {
  const process_result done = start(r, t, o);
  json::value report;
  const auto fail = [&r](std::string why) {
    ++r.failures;
    r.failure = std::move(why);
  };
  if (!done.ok) {
    return fail(done.failure);
  }
  try {
    report = json::parse(done.output);
  } catch (const std::runtime_error& e) {
    return fail(e.what());
  }
  const counts found{static_cast<std::uint64_t>(report.number_at("nodes")),
                     static_cast<std::uint64_t>(report.number_at("leaves")),
                     static_cast<std::uint64_t>(report.number_at("max_depth"))};
  if (found != t.published()) {
    fail(format("counted %s nodes", with_commas(found.nodes).c_str()));
  } else if (report.number_at("seconds") < r.best) {
    r.best = report.number_at("seconds");
    r.best_report = report;
  }
}

void print_rows(const tree& t, const std::vector<row>& rows, int rounds) {
  std::printf("\n%s, %s nodes\n", t.name().data(), with_commas(t.published().nodes).c_str());
  for (const row& r : rows) {
    std::string line = format("  %-34s", r.name.c_str());
    if (r.has_best()) {
      line += format(" %9s  %9s nodes/s", seconds_text(r.best).c_str(),
                     rate_text(static_cast<double>(t.published().nodes) / r.best).c_str());
    }
    if (r.has_best() && rows[0].has_best()) {
      line += format("  %.3f x", rows[0].best / r.best);
    }
    if (r.failures != 0) {
      line += format("  FAILED in %d of %d rounds: ", r.failures, rounds) + r.failure;
    }
    std::printf("%s\n", line.c_str());
  }
}

steal_facts facts_of(const tree& t, const row& one, const row& many, const ranks_options& o) {
  const double steals = std::max(1.0, many.best_report.number_at("steals"));
  steal_facts f;
  f.node_seconds = one.best * o.ranks * o.workers / static_cast<double>(t.published().nodes);
  f.nodes_brought = many.best_report.number_at("brought_nodes") / steals;
  f.seconds_to_wait = many.best_report.number_at("steal_seconds") / steals;
  return f;
}

// A model, and said to be one.
void print_model(const tree& t, const row& one, const row& many, const ranks_options& o) {
  const steal_facts f = facts_of(t, one, many, o);
  std::printf("  a steal (%s): %.0f nodes in %.0f ns each, after %.0f us\n", many.by->name, f.nodes_brought,
              f.node_seconds * 1e9, f.seconds_to_wait * 1e6);
  constexpr double latencies[] = {0, 10e-6, 100e-6, 1e-3};
  std::printf("  a MODEL of more ranks, times one worker, where a steal takes longer by:\n  %24s", "");
  for (const double l : latencies) {
    std::printf("%9.0f us", l * 1e6);
  }
  std::printf("\n");
  for (const int ranks : {2, 16, 128}) {
    for (const int workers : {1, 16}) {
      std::printf("  %6d ranks x %2d workers", ranks, workers);
      for (const double l : latencies) {
        std::printf("%12.1f", modelled_speedup(t.published(), f, ranks, workers, l));
      }
      std::printf("\n");
    }
  }
}

json::value to_json(const tree& t, const std::vector<row>& rows) {
  json::array all;
  for (const row& r : rows) {
    all.push_back(
        json::object{{"name", r.name},
                     {"failures", r.failures},
                     {"failure", r.failure},
                     {"best_seconds", r.has_best() ? r.best : 0},
                     {"of_the_speed_of_one", r.has_best() && rows[0].has_best() ? rows[0].best / r.best : 0},
                     {"report", r.best_report}});
  }
  return json::object{{"tree", t.name()}, {"rows", std::move(all)}};
}

// Of the last minute, the last five and fifteen; zeros where nobody knows.
json::value load_now() {
  double load[3] = {};
  static_cast<void>(getloadavg(load, 3));
  return json::array{load[0], load[1], load[2]};
}

// The facts by the names that they have in bench/results, so that a file can stand there.
json::value to_json(const ranks_options& o, const machine_facts& m, const json::value& load,
                    json::array results) {
  constexpr std::string_view changed = "-dirty";
  const bool is_dirty = m.commit.ends_with(changed);
  return json::object{
      {"suite", "uts_ranks"},
      {"quick", false},
      {"passes", o.rounds},
      {"date", m.date.substr(0, 10) + "T" + m.date.substr(11, 5) + "+00:00"},
      {"machine",
       json::object{{"cpu", m.processor}, {"cores", m.processors}, {"kernel", m.kernel}, {"load", load}}},
      {"compiler", m.compiler},
      {"flags", m.build_flags},
      {"commit", is_dirty ? m.commit.substr(0, m.commit.size() - changed.size()) : m.commit},
      {"dirty", is_dirty},
      {"ranks", o.ranks},
      {"workers", o.workers},
      {"results", std::move(results)}};
}

std::vector<row> plan(const ranks_options& o) {
  std::vector<row> rows(1);
  rows[0].name = "one process, " + workers_text(o.ranks * o.workers);
  for (const engine& e : engines) {
    if (fs::exists(rank_program(e))) {
      row r;
      r.name = format("%d ranks, %s each, %s", o.ranks, workers_text(o.workers).c_str(), e.name);
      r.by = &e;
      rows.push_back(std::move(r));
    }
  }
  if (rows.size() == 1) {
    throw std::runtime_error(
        "neither Open MPI nor MPICH was found when Weft was built: there is no program for ranks");
  }
  return rows;
}

} // namespace

// A rank visits what a steal brings, at most a quarter of its share, then waits for the next one; before
// that, in twice as many ranks with each step, ranks wait for their first.
double modelled_speedup(const counts& tree, const steal_facts& steal, int ranks, int workers,
                        double more_latency) {
  const double wait = steal.seconds_to_wait + more_latency;
  const double brought = std::min(steal.nodes_brought, static_cast<double>(tree.nodes) / (4.0 * ranks));
  const double work = brought * steal.node_seconds / workers;
  const double busy = work / (work + wait);
  const double alone = static_cast<double>(tree.nodes) * steal.node_seconds;
  return alone / (alone / (ranks * workers * busy) + std::log2(ranks) * wait);
}

int run_ranks(const ranks_options& options) {
  const std::vector<std::string> trees =
      options.trees.empty() ? std::vector<std::string>{"T1L", "T3L"} : options.trees;
  const machine_facts machine = this_machine();
  const json::value load = load_now();
  std::printf("Counting over %d ranks, one thread a node; %s, %d CPUs, best of %d rounds\n", options.ranks,
              machine.processor.c_str(), machine.processors, options.rounds);
  std::fflush(stdout);
  int failed = 0;
  json::array results;
  for (const std::string& name : trees) {
    const tree& t = known_tree(name);
    std::vector<row> rows = plan(options);
    for (int round = 0; round < options.rounds; ++round) {
      for (row& r : rows) {
        run_once(r, t, options);
      }
    }
    print_rows(t, rows, options.rounds);
    const row* fastest = nullptr; // of the jobs
    for (const row& r : rows) {
      failed += r.failures;
      if (r.has_best() && r.by != nullptr && (fastest == nullptr || r.best < fastest->best)) {
        fastest = &r;
      }
    }
    if (fastest != nullptr && rows[0].has_best()) {
      print_model(t, rows[0], *fastest, options);
    }
    std::fflush(stdout);
    results.push_back(to_json(t, rows));
  }
  fs::create_directories(options.directory);
  const fs::path path = fs::path(options.directory) / "weft-ranks.json";
  std::ofstream file(path);
  file << json::value(to_json(options, machine, load, std::move(results))).dump(true) << '\n';
  file.close();
  if (!file) {
    throw std::runtime_error("cannot write " + path.string());
  }
  std::printf("\n%s\n%s\n", failed == 0 ? "All counts are right." : "There were FAILURES.", path.c_str());
  return failed;
}

} // namespace weft::uts
