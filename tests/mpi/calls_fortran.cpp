// SPDX-License-Identifier: MIT
// Starts threads of Weft that run the subroutines of calls.f90: one worker is enough for them only where
// those that wait in MPI suspend themselves.
#include <mpi.h>

#include <cstdio>
#include <cstring>
#include <vector>

#include "weft/weft.hpp"

extern "C" {
void begin();
void finish();
void receive_from_self();
void send_to_self();
void exchange(int i, int communicator);
void exchange_2008(int i, int communicator);
}

namespace {

void self() {
  weft::thread receives(&receive_from_self);
  weft::thread sends(&send_to_self);
  receives.join();
  sends.join();
}

void exchanges(void (*one)(int, int)) {
  constexpr int count = 20;
  std::vector<MPI_Comm> comms(count, MPI_COMM_NULL);
  for (MPI_Comm& c : comms)
    MPI_Comm_dup(MPI_COMM_WORLD, &c);
  std::vector<weft::thread> all;
  for (int i = 0; i < count; ++i)
    all.emplace_back([one, i, c = MPI_Comm_c2f(comms[static_cast<std::size_t>(i)])] { one(i, c); });
  for (weft::thread& t : all)
    t.join();
  for (MPI_Comm& c : comms)
    MPI_Comm_free(&c);
}

} // namespace

int main(int count, char** words) {
  const char* const what = count > 1 ? words[1] : "";
  begin();
  if (std::strcmp(what, "fortran_self") == 0) {
    self();
  } else if (std::strcmp(what, "fortran") == 0) {
    exchanges(&exchange);
  } else if (std::strcmp(what, "fortran_2008") == 0) {
    exchanges(&exchange_2008);
  } else {
    return 2;
  }
  std::printf("%s: right\n", what);
  std::fflush(stdout);
  finish();
  return 0;
}
