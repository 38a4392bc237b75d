// SPDX-License-Identifier: MIT
#pragma once

namespace CLI {
class App;
}

namespace weft::tool {

// `weft ps PID|CORE`: the threads of a process, what they wait for, and who waits in a circle.
void add_ps_command(CLI::App& app);

} // namespace weft::tool
