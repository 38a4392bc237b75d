// SPDX-License-Identifier: MIT
#include <pthread.h>

#include <thread>
#include <vector>

#include "apps/poisson/forms.hpp"

namespace poisson {

outcome by_a_loop(const problem& p) {
  outcome result;
  if (p.rank != 0) {
    return result;
  }
  strip all(p.n, 1, p.n);
  const double begin = MPI_Wtime();
  for (int step = 0; step < p.steps; ++step) {
    all.update(1, p.n + 1);
    all.swap();
  }
  result.seconds = MPI_Wtime() - begin;
  result.checksum = all.checksum();
  return result;
}

outcome by_kernel_threads(const problem& p) {
  strip mine(p.n, p.first_row(), p.rows());
  pthread_barrier_t together;
  pthread_barrier_init(&together, nullptr, static_cast<unsigned>(p.parts));
  const int inner = mine.rows() - 2; // rows 2 to rows() - 1
  const auto work = [&](int i) {
    for (int step = 0; step < p.steps; ++step) {
      const int from = 2 + part_begin(inner, p.parts, i), to = 2 + part_begin(inner, p.parts, i + 1);
      if (i == 0) {
        exchange rows(mine, p);
        mine.update(from, to);
        MPI_Waitall(4, rows.requests.data(), MPI_STATUSES_IGNORE);
        mine.update(1, 2);
        mine.update(mine.rows(), mine.rows() + 1);
      } else {
        mine.update(from, to);
      }
      pthread_barrier_wait(&together);
      if (i == 0) {
        mine.swap();
      }
      pthread_barrier_wait(&together);
    }
  };
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  std::vector<std::thread> others;
  for (int i = 1; i < p.parts; ++i) {
    others.emplace_back(work, i);
  }
  work(0);
  for (std::thread& t : others) {
    t.join();
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const outcome result{MPI_Wtime() - begin, mine.checksum()};
  pthread_barrier_destroy(&together);
  return result;
}

} // namespace poisson
