// SPDX-License-Identifier: MIT
#pragma once

namespace CLI {
class App;
}

namespace weft::tool {

// weft mpi: a program's ranks, with the layer between it and its MPI.
void add_mpi_command(CLI::App& app);

} // namespace weft::tool
