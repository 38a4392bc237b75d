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
  int code;
  {
    const engine_section in;
    code = issue(&request);
  }
  return code != MPI_SUCCESS ? code : wait_for(request, status, comm, shown); // SWITCH: may
}

} // namespace weft::mpi
