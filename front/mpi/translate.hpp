// SPDX-License-Identifier: MIT
// A blocking call as its non-blocking twin, and the wait for that. On every path, threads and kernel threads
// alike, and in every rank: a twin does not match its blocking collective.
#pragma once

#include "front/mpi/wait.hpp"

namespace weft::mpi {

/// A call that does not wait, and what it says.
template <class Call>
int call_engine(Call call, std::size_t least = room) {
  int code = MPI_SUCCESS;
  with_room(
      [&] {
        const engine_section in;
        code = call();
      },
      least);
  return code;
}

/// `issue(request)` begins the twin.
template <class Issue>
int by_twin(const wait_name& shown, MPI_Comm comm, MPI_Status* status, Issue issue) {
  MPI_Request request = MPI_REQUEST_NULL;
  int code = MPI_SUCCESS;
  bool is_over = true;
  with_room([&] {
    {
      const engine_section in;
      code = issue(&request);
    }
    if (code == MPI_SUCCESS)
      is_over = !is_served_by_looks(request, comm, shown) && is_over_at_once(request, status, code);
  });
  return is_over ? code : wait_longer(request, status, comm, shown); // SWITCH: may resume on another worker
}

/// Whether a communicator has this process alone, so that no call of another rank's has to match.
inline bool is_of_this_process(MPI_Comm comm) {
  if (comm == MPI_COMM_NULL || comm == MPI_COMM_SELF)
    return comm == MPI_COMM_SELF;
  int has_others = 1, size = 0;
  const int code = call_engine([&] {
    const int found = PMPI_Comm_test_inter(comm, &has_others);
    return found != MPI_SUCCESS ? found : PMPI_Comm_size(comm, &size);
  });
  return code == MPI_SUCCESS && has_others == 0 && size == 1;
}

/// The same for a send or a receive of elements of `type`.
template <class Issue>
int message_by_twin(const wait_name& shown, MPI_Comm comm, MPI_Datatype type, MPI_Status* status,
                    Issue issue) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int code = call_engine([&] { return issue(&request); }, room_for_message(type));
  if (code != MPI_SUCCESS || (shown.where == wait_name::way::to && is_complete_send(request)))
    return code;
  return wait_for(request, status, comm, shown); // SWITCH: may resume on another worker
}

} // namespace weft::mpi
