// SPDX-License-Identifier: MIT
// How the caller waits: a thread is suspended in the table, a kernel thread of the program's waits in MPI.
#pragma once

#include "front/mpi/engine.hpp"
#include "weft/door/waiting.hpp"

#include <type_traits>

namespace weft::mpi {

/// Whether the caller can be suspended: a thread of Weft, main() included if it is one, outside of a look.
[[nodiscard]] bool can_be_suspended() noexcept;

/// What `weft ps` says of a wait: the call, and of a message its peer and tag.
using wait_name = door::message_wait;
[[nodiscard]] inline std::int32_t shown_peer(int rank) noexcept {
  return rank == MPI_ANY_SOURCE ? wait_name::any : rank;
}
[[nodiscard]] inline std::int32_t shown_tag(int tag) noexcept {
  return tag == MPI_ANY_TAG ? wait_name::any : tag;
}

/// MPI_Wait of a request that the layer or the program has. `comm`: whose error handler is called for an
/// error that was found in the table; MPI_COMM_NULL: that of MPI_COMM_WORLD. *Contexts*: thread, foreign
/// kernel thread. *Switches*: may. Returns an MPI code, as all of these.
int wait_for(MPI_Request& request, MPI_Status* status, MPI_Comm comm, const wait_name& shown);
/// The parts of it. Whether others wait in the table, and a look for all of them will serve the caller too,
/// so that it is not tested by itself.
[[nodiscard]] bool is_served_by_looks(MPI_Request request, MPI_Comm comm, const wait_name& shown) noexcept;
/// If not: with_room(), as long as waiting in place is worth while. True: it is over, with `code`.
bool is_over_at_once(MPI_Request& request, MPI_Status* status, int& code);
/// Then suspended, on no more than the thread's own stack.
int wait_longer(MPI_Request& request, MPI_Status* status, MPI_Comm comm, const wait_name& shown);

/// As wait_for(), for several.
int wait_for_all(int count, MPI_Request* requests, MPI_Status* statuses, const wait_name& shown);

/// Until `ask(flag)` returns an error or sets `flag`. It calls PMPI and neither waits nor switches.
int wait_until_asked(int (*ask)(void* with, int& flag), void* with, const wait_name& shown);
template <class Ask>
int wait_until(const wait_name& shown, Ask ask) {
  return wait_until_asked([](void* with, int& flag) { return (*static_cast<Ask*>(with))(flag); }, &ask,
                          shown);
}

/// A call that has no twin: blocks a spare kernel thread in place of the worker. *Errors*: where there is
/// none the worker waits.
int call_elsewhere(int (*call)(void* with), void* with);
template <class Call>
int elsewhere(Call call) {
  return call_elsewhere([](void* with) { return (*static_cast<Call*>(with))(); }, &call);
}

/// After a test or a probe that has found nothing: others get a chance.
void let_others_progress();

/// As the engine would report an error of a communicator's: its handler is called. Returns `code`.
int raise(MPI_Comm comm, int code);

} // namespace weft::mpi
