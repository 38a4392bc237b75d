// SPDX-License-Identifier: MIT
// weft trace: record, start, stop; convert, summary.
#pragma once

#include <CLI/App.hpp>

namespace weft::tool {

// Adds the subcommand; what it does throws std::exception with a sentence.
void add_trace_command(CLI::App& app);

} // namespace weft::tool
