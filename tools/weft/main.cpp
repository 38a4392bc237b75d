// SPDX-License-Identifier: MIT
// weft: looks at programs that use the library, from outside, and runs others on it. One file a command.
#include <CLI/CLI.hpp>

#include <cstdio>
#include <exception>

#include "tools/weft/mpi_command.hpp"
#include "tools/weft/ps_command.hpp"
#include "tools/weft/run_command.hpp"
#include "tools/weft/trace_command.hpp"

int main(int argc, char** argv) {
  CLI::App app{"Looks at programs that use the library Weft, and runs others on it", "weft"};
  app.require_subcommand(1);
  app.set_version_flag("--version", "weft " WEFT_VERSION);
  weft::tool::add_mpi_command(app);
  weft::tool::add_ps_command(app);
  weft::tool::add_run_command(app);
  weft::tool::add_trace_command(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
  return 0;
}
