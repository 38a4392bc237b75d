// SPDX-License-Identifier: MIT
#include <weft/weft.hpp>

#include <algorithm>
#include <memory>
#include <vector>

#include "apps/poisson/forms.hpp"

namespace poisson {
namespace {

// What an engine takes of a stack to send rows.
constexpr std::size_t stack_in_engine = 256 << 10;

weft::thread_attributes for_the_engine() {
  weft::thread_attributes a;
  a.stack_size = stack_in_engine;
  return a;
}

// `wait(requests)` returns when all are complete.
template <class Wait>
outcome by_tasklets_and(const problem& p, Wait wait) {
  constexpr int tasklets_of_worker = 32;
  strip mine(p.n, p.first_row(), p.rows());
  const int inner = mine.rows() - 2; // rows 2 to rows() - 1
  const int pieces = std::max(1, std::min(inner, p.parts * tasklets_of_worker));
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  for (int step = 0; step < p.steps; ++step) {
    weft::thread communicates(for_the_engine(), [&] {
      exchange rows(mine, p);
      wait(rows.requests); // SWITCH: tasklets run meanwhile
      mine.update(1, 2);
      mine.update(mine.rows(), mine.rows() + 1);
    });
    std::vector<weft::tasklet> computing;
    computing.reserve(static_cast<std::size_t>(pieces));
    for (int i = 0; i < pieces; ++i) {
      const int piece = step % 2 == 0 ? i : pieces - 1 - i; // what was computed last is still in the caches
      computing.emplace_back([&mine, from = 2 + part_begin(inner, pieces, piece),
                              to = 2 + part_begin(inner, pieces, piece + 1)] { mine.update(from, to); });
    }
    communicates.join();
    for (weft::tasklet& t : computing) {
      t.join();
    }
    mine.swap();
  }
  MPI_Barrier(MPI_COMM_WORLD);
  return {MPI_Wtime() - begin, mine.checksum()};
}

// The strip `number` of all ranks', by a thread of its own. Rows that go down have the tag of the strip
// below, those that go up the next one.
void run_strip(strip& s, const problem& p, int number) {
  const int all = p.ranks * p.parts;
  const int above = number > 0 ? (number - 1) / p.parts : MPI_PROC_NULL;
  const int below = number + 1 < all ? (number + 1) / p.parts : MPI_PROC_NULL;
  for (int step = 0; step < p.steps; ++step) {
    MPI_Request sent[2];
    MPI_Isend(s.row(1), p.n, MPI_DOUBLE, above, 2 * number + 1, MPI_COMM_WORLD, &sent[0]);
    MPI_Isend(s.row(s.rows()), p.n, MPI_DOUBLE, below, 2 * (number + 1), MPI_COMM_WORLD, &sent[1]);
    MPI_Recv(s.row(0), p.n, MPI_DOUBLE, above, 2 * number, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(s.row(s.rows() + 1), p.n, MPI_DOUBLE, below, 2 * (number + 1) + 1, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    s.update(1, s.rows() + 1);
    MPI_Waitall(2, sent, MPI_STATUSES_IGNORE);
    s.swap();
  }
}

} // namespace

outcome by_tasklets(const problem& p) {
  return by_tasklets_and(p, [](std::array<MPI_Request, 4>& requests) {
    for (int is_over = 0; is_over == 0;) {
      MPI_Testall(4, requests.data(), &is_over, MPI_STATUSES_IGNORE); // yields where it is not
    }
  });
}

outcome by_tasklets_with_waits(const problem& p) {
  return by_tasklets_and(
      p, [](std::array<MPI_Request, 4>& requests) { MPI_Waitall(4, requests.data(), MPI_STATUSES_IGNORE); });
}

outcome by_strips(const problem& p) {
  std::vector<std::unique_ptr<strip>> mine;
  const int all = p.ranks * p.parts;
  for (int i = 0; i < p.parts; ++i) {
    const int number = p.rank * p.parts + i;
    const int first = part_begin(p.n, all, number);
    mine.push_back(std::make_unique<strip>(p.n, first + 1, part_begin(p.n, all, number + 1) - first));
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  std::vector<weft::thread> threads;
  for (int i = 0; i < p.parts; ++i) {
    threads.emplace_back(for_the_engine(), [&p, i, s = mine[static_cast<std::size_t>(i)].get()] {
      run_strip(*s, p, p.rank * p.parts + i);
    });
  }
  for (weft::thread& t : threads) {
    t.join();
  }
  MPI_Barrier(MPI_COMM_WORLD);
  outcome result{MPI_Wtime() - begin, 0};
  for (const auto& s : mine) {
    result.checksum += s->checksum();
  }
  return result;
}

} // namespace poisson
