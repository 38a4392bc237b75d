// SPDX-License-Identifier: MIT
// Runs a child process, mostly of this same executable, collects what it prints and watches its memory. A run
// of its own gives each measurement its own peak memory, and a crash or a hang of one runtime costs one row,
// not the demo.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace weft::uts {

struct process_result {
  bool ok = false; ///< exited with status 0
  std::string
      failure; ///< else one line: the status, the signal or the time limit, and the last line of stderr
  std::string output; ///< all of stdout
};

/// Called about five times a second with the seconds so far and the child's resident bytes.
using watcher = std::function<void(double seconds, std::size_t resident)>;

/// Runs `program` with `arguments`; kills it after `limit_seconds`. `environment` holds "NAME=value" to add.
/// Errors: std::system_error if no process can be made.
process_result run_program(const std::string& program, const std::vector<std::string>& arguments,
                           const std::vector<std::string>& environment, double limit_seconds,
                           const watcher& watch);

/// The same of this executable.
process_result run_self(const std::vector<std::string>& arguments,
                        const std::vector<std::string>& environment, double limit_seconds,
                        const watcher& watch);

} // namespace weft::uts
