// SPDX-License-Identifier: MIT
// Linked to an MPI and to Weft, not to the layer between them: for `weft mpi` to put it there. On one worker
// the thread that receives would keep it from the one that sends.
#include <mpi.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <unistd.h>

#include "weft/weft.hpp"

namespace {

// Threads that wait in different calls, until there is a file of that name: for `weft ps`.
void wait_in_calls(const char* until) {
  MPI_Comm other = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_SELF, &other);
  int got[4] = {};
  weft::thread receives({.name = "receives"},
                        [&got] { MPI_Recv(&got[0], 1, MPI_INT, 0, 7, MPI_COMM_SELF, MPI_STATUS_IGNORE); });
  weft::thread completes({.name = "completes"}, [&got] {
    MPI_Request both[2];
    for (int i = 0; i < 2; ++i)
      MPI_Irecv(&got[1 + i], 1, MPI_INT, MPI_ANY_SOURCE, 8 + i, MPI_COMM_SELF, &both[i]);
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
  });
  weft::thread probes({.name = "probes"}, [other, &got] {
    MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, other, MPI_STATUS_IGNORE);
    MPI_Recv(&got[3], 1, MPI_INT, 0, 0, other, MPI_STATUS_IGNORE);
  });
  std::printf("waiting: %d\n", static_cast<int>(::getpid()));
  std::fflush(stdout);
  while (::access(until, F_OK) != 0)
    weft::this_thread::sleep_for(std::chrono::milliseconds(10));
  const int sent = 42;
  for (const int tag : {7, 8, 9})
    MPI_Send(&sent, 1, MPI_INT, 0, tag, MPI_COMM_SELF);
  MPI_Send(&sent, 1, MPI_INT, 0, 0, other);
  for (weft::thread* t : {&receives, &completes, &probes})
    t->join();
  MPI_Comm_free(&other);
  if (got[0] + got[1] + got[2] + got[3] == 4 * sent)
    std::printf("all right\n");
  std::fflush(stdout);
}

} // namespace

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
  if (count > 2 && std::strcmp(words[1], "waits") == 0)
    wait_in_calls(words[2]);
  MPI_Finalize();
  return count > 1 && std::strcmp(words[1], "fails") == 0 ? 5 : 0;
}
