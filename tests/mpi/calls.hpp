// SPDX-License-Identifier: MIT
// What the cases of calls.cpp and groups.cpp share.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdio>
#include <vector>

#include "weft/weft.hpp"

// Of this process.
inline int rank = 0, ranks = 1;

#define CHECK(condition)                                                                                     \
  do {                                                                                                       \
    if (!(condition)) {                                                                                      \
      std::fprintf(stderr, "rank %d: %s:%d: %s\n", rank, __FILE__, __LINE__, #condition);                    \
      MPI_Abort(MPI_COMM_WORLD, 3);                                                                          \
    }                                                                                                        \
  } while (false)
#define OK(call) CHECK((call) == MPI_SUCCESS)

// Runs `f(i)` in so many threads, and one that computes beside them.
template <class F>
void in_threads(int count, F f) {
  std::atomic<int> left{count};
  weft::thread computes([&left] {
    while (left != 0)
      weft::this_thread::yield();
  });
  std::vector<weft::thread> all;
  for (int i = 0; i < count; ++i) {
    all.emplace_back([&f, &left, i] {
      f(i);
      --left;
    });
  }
  for (weft::thread& t : all)
    t.join();
  computes.join();
}

inline MPI_Comm dup_world() {
  MPI_Comm made = MPI_COMM_NULL;
  OK(MPI_Comm_dup(MPI_COMM_WORLD, &made));
  return made;
}

// Communicators, windows and files: groups.cpp.
void communicators();
void made_at_once();
void intercommunicators();
void neighbours();
void small_rings();
void large_counts();
void windows();
void files();
