// SPDX-License-Identifier: MIT
// The ways in which a rank computes its part and gets its neighbours' rows.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>

#include "apps/poisson/grid.hpp"

namespace poisson {

struct problem {
  int n = 0, steps = 0;
  int parts = 1; ///< of a rank: kernel threads, workers, or strips
  int rank = 0, ranks = 1;

  [[nodiscard]] int first_row() const noexcept { return 1 + part_begin(n, ranks, rank); }
  [[nodiscard]] int rows() const noexcept {
    return part_begin(n, ranks, rank + 1) - part_begin(n, ranks, rank);
  }
};

struct outcome {
  double seconds = 0;         ///< of the steps, from and to a barrier of all ranks
  std::uint64_t checksum = 0; ///< of this rank's rows
};

/// The first row's and the last row's way to the neighbours, and theirs here: four requests, the receives
/// first.
struct exchange {
  std::array<MPI_Request, 4> requests;

  exchange(strip& s, const problem& p) {
    const int above = p.rank > 0 ? p.rank - 1 : MPI_PROC_NULL;
    const int below = p.rank + 1 < p.ranks ? p.rank + 1 : MPI_PROC_NULL;
    MPI_Irecv(s.row(0), p.n, MPI_DOUBLE, above, down, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(s.row(s.rows() + 1), p.n, MPI_DOUBLE, below, up, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(s.row(1), p.n, MPI_DOUBLE, above, up, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(s.row(s.rows()), p.n, MPI_DOUBLE, below, down, MPI_COMM_WORLD, &requests[3]);
  }

 private:
  static constexpr int down = 1, up = 2;
};

/// A loop over all rows of the square, in rank 0 alone: what all others must agree with.
outcome by_a_loop(const problem& p);
/// The paper's form of Pthreads: the rows are divided equally, the master communicates, and computes as well.
outcome by_kernel_threads(const problem& p);
/// The paper's form of Argobots: a thread communicates, tests and yields, and computes the rows that need
/// what it received; tasklets, shared by the workers, compute the others.
outcome by_tasklets(const problem& p);
/// The same, but the thread waits in MPI_Waitall.
outcome by_tasklets_with_waits(const problem& p);
/// A thread for each of `parts` strips, with blocking receives. There is no step of all strips: each goes on
/// as soon as its neighbours' rows are there.
outcome by_strips(const problem& p);

} // namespace poisson
