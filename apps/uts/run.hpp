// SPDX-License-Identifier: MIT
// What happens inside a child process: one measurement, reported as one JSON object on stdout.
#pragma once

#include <cstddef>
#include <string>

#include "apps/uts/adapter.hpp"
#include "apps/uts/json.hpp"

namespace weft::uts {

/// Counts a tree. Members: nodes, leaves, max_depth, seconds, peak_bytes, table_bytes.
/// Errors: std::runtime_error for an unknown tree or runtime.
json::value run_count(const std::string& tree, const std::string& runtime, int workers);

/// Blocks threads. Members: those of `blocked_result`. Errors: std::runtime_error where Weft is not built in.
json::value run_blocked(std::size_t threads, std::size_t stack_bytes, int workers);

/// Counts a tree under the trace, which is written to `path`. Members as in run_count.
json::value run_trace(const std::string& tree, int workers, const std::string& path);

} // namespace weft::uts
