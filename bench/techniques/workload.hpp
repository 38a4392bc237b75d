// SPDX-License-Identifier: MIT
// techniques: Fig. 9 of "Analyzing the Performance Trade-Off in Implementing User-Level Threads": n threads
// are created, then joined and freed; of each hundred, D chosen at random yield once ("deviate"), the rest
// are empty. A form is <technique>.<D>. An operation is one thread. Extras: the most resident memory and the
// most address space that the process ever had.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "bench/common/bench.hpp"

namespace weft::bench::techniques {

inline constexpr int deviations[] = {0, 1, 2, 5, 10, 20, 50, 100};

inline options defaults() {
  return {.n = 4096, .rounds = 20, .repeats = 5, .workers = 1, .form = {}};
}

inline std::vector<std::string> forms(const std::vector<std::string>& names) {
  std::vector<std::string> all;
  for (const std::string& name : names) {
    for (const int d : deviations)
      all.push_back(name + "." + std::to_string(d));
  }
  return all;
}

struct form {
  explicit form(const recorder& rec)
      : technique(rec.opt().form.substr(0, rec.opt().form.rfind('.'))),
        deviating(std::stoul(rec.opt().form.substr(technique.size() + 1))) {}
  std::string technique;
  std::size_t deviating; // of a hundred
};

// Which threads deviate: exactly the share that was asked for, at the same places in every program.
inline std::vector<char> choose(std::size_t n, std::size_t percent) {
  std::vector<char> flags(n, 0);
  std::fill_n(flags.begin(), n * percent / 100, char{1});
  std::shuffle(flags.begin(), flags.end(), std::mt19937(1));
  return flags;
}

// KiB, a line of /proc/self/status. Not getrusage(): its ru_maxrss begins with that of whoever called exec().
inline double status_kb(const std::string& key) {
  std::ifstream file("/proc/self/status");
  std::string line;
  while (std::getline(file, line)) {
    if (line.compare(0, key.size(), key) == 0)
      return std::strtod(line.c_str() + key.size(), nullptr);
  }
  return 0;
}

struct empty_body {
  static void run() {}
};
struct counting_body {
  static inline std::size_t count = 0;
  static void run() { ++count; }
};

// round(flags, body) creates a thread for each flag, which yields if the flag is set, and calls body.run();
// joins and frees them all.
template <class Round>
int run(recorder& rec, Round&& round) {
  const std::vector<char> flags = choose(rec.opt().n, form(rec).deviating);
  round(flags, counting_body{});
  rec.check(counting_body::count == flags.size(), "every thread runs exactly once");
  rec.time_rounds(rec.opt().n, [&] { round(flags, empty_body{}); });
  rec.extra("max_rss_kb", status_kb("VmHWM:"));
  rec.extra("max_address_space_kb", status_kb("VmPeak:"));
  return rec.finish();
}

} // namespace weft::bench::techniques
