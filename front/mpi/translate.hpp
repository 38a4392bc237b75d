// SPDX-License-Identifier: MIT
// A blocking call as its non-blocking twin, and the wait for that. On every path, threads and kernel threads
// alike, and in every rank: a twin does not match its blocking collective.
#pragma once

#include "front/mpi/wait.hpp"

namespace weft::mpi {

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
    // Most messages that are sent are copied at once: to be suspended for them costs more than a test.
    const bool may_be_served = comm != MPI_COMM_NULL && shown.where != wait_name::way::to;
    if (code == MPI_SUCCESS)
      is_over = is_over_at_once(request, status, may_be_served, code);
  });
  return is_over ? code : wait_longer(request, status, comm, shown); // SWITCH: may resume on another worker
}

} // namespace weft::mpi
