// SPDX-License-Identifier: MIT
// `weft-demo --ranks N`: one tree, counted by the ranks of an MPI job, beside one process with as many
// workers.
#pragma once

#include <string>
#include <vector>

#include "apps/uts/tree.hpp"

namespace weft::uts {

struct ranks_options {
  int ranks = 0;
  int workers = 1; ///< of each rank
  int rounds = 5;  ///< each engine's job and the process go by turns; the best time of each counts
  double limit_seconds = 900;
  std::vector<std::string> trees; ///< empty: T1L and T3L
  std::string directory = ".";    ///< where weft-ranks.json goes
};

/// What is known of a steal: for the model, and for people.
struct steal_facts {
  double node_seconds = 0;    ///< of a worker
  double nodes_brought = 0;   ///< that the thief visits for it
  double seconds_to_wait = 0; ///< until it has the nodes
};

/// How many times as fast as one worker `ranks` of `workers` each are, if each steal takes `more_latency`
/// seconds longer than was measured. A model (docs/guide/mpi.md), nothing measured.
double modelled_speedup(const counts& tree, const steal_facts& steal, int ranks, int workers,
                        double more_latency);

/// Runs all of it, with its results on stdout. How many runs failed or counted wrong. Errors:
/// std::runtime_error where there is no engine of MPI, or a tree is unknown.
int run_ranks(const ranks_options& options);

} // namespace weft::uts
