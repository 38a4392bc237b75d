// SPDX-License-Identifier: MIT
// What a demo runs, in which order, and the loop that runs it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "apps/uts/results.hpp"

namespace weft::uts {

struct demo_options {
  bool quick = false;
  int workers = 0;                         ///< 0: as many as the machine allows
  std::size_t blocked_threads = 1'000'000; ///< 0: leave that part out
  std::size_t stack_bytes = 16384;
  double limit_seconds = 900;        ///< for one run
  std::vector<std::string> trees;    ///< empty: all published ones
  std::vector<std::string> runtimes; ///< empty: all that are built in
  std::string trace_path;            ///< where the timeline file is kept
};

/// Runs everything, each measurement in a child process, with progress on stdout. What fails is in the
/// results.
results run_demo(const demo_options& options);

} // namespace weft::uts
