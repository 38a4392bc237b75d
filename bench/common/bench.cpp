// SPDX-License-Identifier: MIT
// See bench.hpp. Compiled once, so that the argument parser is not compiled with every adapter.
#include "bench/common/bench.hpp"

#include <sched.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>

namespace weft::bench {
namespace {

// The build names a program <workload>.<peer>, so that name and content cannot disagree.
std::string program_part(int part) {
  std::string name = program_invocation_short_name;
  const std::size_t dot = name.find('.');
  if (dot == std::string::npos)
    return part == 0 ? name : "unknown";
  return part == 0 ? name.substr(0, dot) : name.substr(dot + 1);
}

double median(std::vector<double> values) {
  if (values.empty())
    return 0;
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

double kib_of(const char* path, std::string_view key) {
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line)) {
    if (line.compare(0, key.size(), key) == 0)
      return std::strtod(line.c_str() + key.size(), nullptr);
  }
  return 0;
}

} // namespace

recorder::recorder(int argc, char** argv, options defaults, std::vector<std::string> forms)
    : options_(std::move(defaults)) {
  CLI::App app{program_part(0) + " with " + program_part(1)};
  bool list = false;
  options_.form = forms.front();
  app.add_option("--n", options_.n, "size")->capture_default_str();
  app.add_option("--rounds", options_.rounds, "rounds in a sample")->capture_default_str();
  app.add_option("--repeats", options_.repeats, "samples")->capture_default_str();
  app.add_option("--workers", options_.workers, "kernel threads")->capture_default_str();
  app.add_option("--form", options_.form)->check(CLI::IsMember(forms))->capture_default_str();
  app.add_flag("--list-forms", list, "print the forms, one a line");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error));
  }
  if (list) {
    for (const std::string& form : forms)
      std::cout << form << '\n';
    std::exit(0);
  }
  samples_.reserve(options_.repeats);
}

void recorder::check(bool right, std::string_view what) {
  if (right)
    return;
  right_ = false;
  std::fprintf(stderr, "wrong answer: %.*s\n", static_cast<int>(what.size()), what.data());
}

int recorder::finish() {
  const std::string workload = program_part(0), peer = program_part(1);
  const double least = samples_.empty() ? 0 : *std::min_element(samples_.begin(), samples_.end());
  std::printf("{\"workload\": \"%s\", \"peer\": \"%s\", \"form\": \"%s\"", workload.c_str(), peer.c_str(),
              options_.form.c_str());
  std::printf(", \"n\": %zu, \"rounds\": %zu, \"repeats\": %zu, \"workers\": %u", options_.n, options_.rounds,
              options_.repeats, options_.workers);
  std::printf(", \"unit\": \"%s\", \"ops\": %zu, \"min\": %.6g, \"median\": %.6g", unit_.c_str(), ops_, least,
              median(samples_));
  if (unit_ == "ns/op") {
    std::printf(", \"ns_per_op\": {\"min\": %.6g, \"median\": %.6g}", least, median(samples_));
  }
  std::printf(", \"samples\": [");
  for (std::size_t i = 0; i < samples_.size(); ++i)
    std::printf("%s%.6g", i == 0 ? "" : ", ", samples_[i]);
  std::printf("]");
  for (const auto& [name, value] : extras_)
    std::printf(value == std::floor(value) ? ", \"%s\": %.0f" : ", \"%s\": %.6g", name.c_str(), value);
  std::printf(", \"checked\": %s}\n", right_ ? "true" : "false");
  std::fflush(stdout);
  return right_ ? 0 : 1;
}

void keep_to_cpus(unsigned n) {
  cpu_set_t allowed, first;
  CPU_ZERO(&first);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
    return;
  for (int cpu = 0; cpu < CPU_SETSIZE && n > 0; ++cpu) {
    if (CPU_ISSET(cpu, &allowed)) {
      CPU_SET(cpu, &first);
      --n;
    }
  }
  sched_setaffinity(0, sizeof first, &first);
}

void pin_to_cpu(unsigned k) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
    return;
  k %= static_cast<unsigned>(CPU_COUNT(&allowed));
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &allowed) && k-- == 0) {
      cpu_set_t one;
      CPU_ZERO(&one);
      CPU_SET(cpu, &one);
      sched_setaffinity(0, sizeof one, &one);
      return;
    }
  }
}

memory_use memory_now() {
  const char* maps = "/proc/self/smaps_rollup";
  return {kib_of(maps, "Rss:") * 1024, kib_of("/proc/self/status", "VmPTE:") * 1024,
          (kib_of(maps, "AnonHugePages:") + kib_of(maps, "Private_Hugetlb:")) * 1024};
}

} // namespace weft::bench
