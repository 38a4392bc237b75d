// SPDX-License-Identifier: MIT
// What is settled when MPI begins.
#pragma once

namespace weft::mpi {

/// Stands in for the handlers of MPI_COMM_WORLD and MPI_COMM_SELF (errors.cpp).
void guard_error_handlers();

/// All ranks must have this layer: a twin does not match its blocking collective. Ends the job where one has
/// not. *Contexts*: in MPI_Init, after the engine's.
void find_ranks_without_layer();

} // namespace weft::mpi
