// SPDX-License-Identifier: MIT
// Collective transfers of files that do not wait. Who tests one begins the messages of its next step, which
// ranks must do alike. So where several are under way they are waited for by the engine, which takes them in
// the order of the list, on a spare kernel thread.
#pragma once

#include <mpi.h>

namespace weft::mpi {

/// `request` is of such a transfer. *Contexts*: thread, foreign kernel thread. *Switches*: never.
void note_transfer(MPI_Request request);

/// Whether one of them is. Those are forgotten, since the caller waits until they are through. *Contexts*: as
/// above. *Switches*: never.
[[nodiscard]] bool take_transfers(int count, const MPI_Request* requests);

} // namespace weft::mpi
