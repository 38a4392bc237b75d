// SPDX-License-Identifier: MIT
// weft-demo: counts the published UTS trees on every runtime that is built in, blocks a million threads,
// and writes one page about it. The sub-commands run-* are its own children; run-one is also handy by
// hand.

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>

#include "apps/uts/format.hpp"
#include "apps/uts/plan.hpp"
#include "apps/uts/ranks.hpp"
#include "apps/uts/run.hpp"

namespace weft::uts {
namespace {

struct arguments {
  demo_options demo;
  ranks_options ranks;
  std::string directory = ".";
  std::string tree = "T1";
  std::string runtime = "weft";
  std::string output = "weft-trace.json";
  std::size_t threads = 1'000'000;
  std::size_t stack = 16384;
  int workers = 0;
};

void print(const json::value& v) {
  std::printf("%s\n", v.dump().c_str());
}

void write_file(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) {
    throw std::runtime_error("cannot write " + path.string());
  }
}

void add_child_commands(CLI::App& app, arguments& a) {
  CLI::App* one = app.add_subcommand("run-one", "Count one tree on one runtime; prints one JSON object");
  CLI::App* blocked = app.add_subcommand("run-blocked")->group("");
  CLI::App* trace = app.add_subcommand("run-trace")->group("");
  one->add_option("--runtime", a.runtime, "Runtime, as printed by list");
  trace->add_option("--output", a.output, "Where to write the timeline");
  blocked->add_option("--threads", a.threads, "How many threads");
  blocked->add_option("--stack", a.stack, "Bytes of stack a thread");
  for (CLI::App* counting : {one, trace}) {
    counting->add_option("--tree", a.tree, "T1, T1L, T3L or mini");
  }
  for (CLI::App* c : {one, blocked, trace}) {
    c->add_option("--workers", a.workers, "Workers; 0: all")->check(CLI::NonNegativeNumber);
  }
  one->final_callback([&a] { print(run_count(a.tree, a.runtime, a.workers)); });
  blocked->final_callback([&a] { print(run_blocked(a.threads, a.stack, a.workers)); });
  trace->final_callback([&a] { print(run_trace(a.tree, a.workers, a.output)); });
  for (CLI::App* c : {one, blocked, trace}) {
    c->parse_complete_callback([&a] { a.workers = a.workers > 0 ? a.workers : this_machine().workers; });
  }
  CLI::App* list = app.add_subcommand("list", "Name the runtimes and the trees");
  list->final_callback([] {
    for (const adapter& each : adapters()) {
      std::printf("%-8s %-28s %s\n", each.name.c_str(), each.title.c_str(), each.how.c_str());
    }
    for (const uts::tree& t : published_trees()) {
      std::printf("%-8s %s\n", t.name().data(), t.parameters().data());
    }
  });
}

void add_options(CLI::App& app, arguments& a) {
  app.add_flag("--quick", a.demo.quick, "Under two minutes: the large trees on Weft only");
  app.add_option("-o,--output", a.directory,
                 "Directory for weft-demo.html, weft-demo.json and weft-trace.json");
  app.add_option("-w,--workers", a.demo.workers, "What 'all workers' means; 0: affinity mask and CPU quota")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--ranks", a.ranks.ranks,
                 "Count over so many ranks of an MPI job instead, on --workers each (1 unless said)")
      ->check(CLI::Range(1, 1024));
  app.add_option("--rounds", a.ranks.rounds, "With --ranks: how often each is run; --quick: once")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--threads", a.demo.blocked_threads, "Threads to block at once; 0: leave that out")
      ->capture_default_str();
  app.add_option("--stack", a.demo.stack_bytes, "Bytes of stack of each of them")->capture_default_str();
  app.add_option("--trees", a.demo.trees, "Only these trees")->delimiter(',');
  app.add_option("--runtimes", a.demo.runtimes, "Only these runtimes")->delimiter(',');
  app.add_option("--limit", a.demo.limit_seconds, "Seconds after which one run is given up")
      ->capture_default_str();
}

// Over the ranks of an MPI job, instead of all else.
int over_ranks(arguments& a) {
  a.ranks.directory = a.directory;
  a.ranks.trees = a.demo.trees;
  a.ranks.limit_seconds = a.demo.limit_seconds;
  a.ranks.workers = std::max(1, a.demo.workers);
  if (a.demo.quick) {
    a.ranks.rounds = 1;
  }
  return run_ranks(a.ranks) == 0 ? 0 : 1;
}

int demo(arguments& a) {
  const std::filesystem::path directory = std::filesystem::absolute(a.directory).lexically_normal();
  std::filesystem::create_directories(directory);
  a.demo.trace_path = (directory / "weft-trace.json").string();
  const results r = run_demo(a.demo);
  write_file(directory / "weft-demo.json", to_json(r).dump(true) + "\n");
  const std::filesystem::path page = directory / "weft-demo.html";
  write_file(page, to_html(r));
  const int failed = r.failed_checks();
  if (!r.weft_built) {
    std::printf("Weft itself is not built in: this was only a run of the others.\n");
  }
  if (failed == 0) {
    std::printf("All %d checks passed, in %s.\n", r.checks(), seconds_text(r.seconds).c_str());
  } else {
    std::printf("%d of %d checks FAILED.\n", failed, r.checks());
  }
  std::printf("%s\n", page.c_str());
  return failed == 0 && r.weft_built ? 0 : 1;
}

} // namespace
} // namespace weft::uts

int main(int argc, char** argv) {
  weft::uts::arguments a;
  CLI::App app("Counts the published UTS trees on Weft and its peers, one task a node", "weft-demo");
  app.require_subcommand(0, 1);
  weft::uts::add_options(app, a);
  weft::uts::add_child_commands(app, a);
  try {
    app.parse(argc, argv);
    if (!app.get_subcommands().empty()) {
      return 0;
    }
    return a.ranks.ranks > 0 ? weft::uts::over_ranks(a) : weft::uts::demo(a);
  } catch (const CLI::ParseError& e) {
    return app.exit(e);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "weft-demo: %s\n", e.what());
    return 1;
  }
}
