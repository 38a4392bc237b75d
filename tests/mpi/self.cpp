// SPDX-License-Identifier: MIT
// Linked to an MPI and to Weft, not to the layer between them: for `weft mpi` to put it there. On one worker
// the thread that receives would keep it from the one that sends.
#include <mpi.h>

#include <cstdio>
#include <cstring>

#include "weft/weft.hpp"

int main(int count, char** words) {
  int provided = -1, rank = -1, got = 0;
  MPI_Init_thread(&count, &words, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const bool is_main_a_thread = weft::runtime::running(); // nothing else has started it yet
  weft::thread receives([&got] { MPI_Recv(&got, 1, MPI_INT, 0, 7, MPI_COMM_SELF, MPI_STATUS_IGNORE); });
  weft::thread sends([] {
    const int sent = 42;
    MPI_Ssend(&sent, 1, MPI_INT, 0, 7, MPI_COMM_SELF);
  });
  receives.join();
  sends.join();
  if (got == 42)
    std::printf("rank %d: right%s\n", rank, is_main_a_thread ? ", main() too" : "");
  std::fflush(stdout);
  MPI_Finalize();
  return count > 1 && std::strcmp(words[1], "fails") == 0 ? 5 : 0;
}
