// SPDX-License-Identifier: MIT
// Collective transfers of files that do not wait. Who tests one begins the messages of its next step, and
// ranks must begin them alike: where several are under way the engines' MPI_Waitall finishes one after the
// other, and so does ours.
#pragma once

#include <mpi.h>

namespace weft::mpi {

/// `request` is of such a transfer. *Contexts*: thread, foreign kernel thread. *Switches*: never.
void note_transfer(MPI_Request request);

/// Whether one of them is. Those are forgotten, since the caller waits until they are through. *Contexts*: as
/// above. *Switches*: never.
[[nodiscard]] bool take_transfers(int count, const MPI_Request* requests);

} // namespace weft::mpi
