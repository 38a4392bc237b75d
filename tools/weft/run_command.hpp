// SPDX-License-Identifier: MIT
#pragma once

namespace CLI {
class App;
}

namespace weft::tool {

// weft run: a program whose threads or regions become Weft's, through a library that takes its calls.
void add_run_command(CLI::App& app);

} // namespace weft::tool
