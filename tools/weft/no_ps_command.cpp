// SPDX-License-Identifier: MIT
// In place of `weft ps` where the tool was built without libdw.
#include "tools/weft/ps_command.hpp"

#include <CLI/App.hpp>

#include <stdexcept>

namespace weft::tool {

void add_ps_command(CLI::App& app) {
  CLI::App* ps = app.add_subcommand("ps", "not in this build: it needs libdw (Debian: libdw-dev)");
  ps->callback([] { throw std::runtime_error("weft: this tool was built without libdw, which `ps` needs"); });
}

} // namespace weft::tool
