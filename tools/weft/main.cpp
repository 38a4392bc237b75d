// SPDX-License-Identifier: MIT
// weft: looks at programs that use Weft. One file a command.
#include <CLI/CLI.hpp>

#include "tools/weft/ps_command.hpp"

int main(int count, char** arguments) {
  CLI::App app("Looks at programs that use Weft.", "weft");
  app.require_subcommand(1);
  weft::tool::add_ps_command(app);
  CLI11_PARSE(app, count, arguments);
}
