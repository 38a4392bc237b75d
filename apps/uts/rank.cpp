// SPDX-License-Identifier: MIT
// weft-demo-rank.ENGINE TREE WORKERS: one rank of several that count one tree, one thread a node, on that
// many workers each. Rank 0 prints one JSON object; its exit status is 0 only if the counts are those that
// were published.
#include <mpi.h>
#include <weft/weft.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "apps/uts/forked_visits.hpp"
#include "apps/uts/json.hpp"
#include "apps/uts/shared_work.hpp"

namespace weft::uts {
namespace {

// The counts of several nodes, each visited by a thread.
counts visit_all(forked_visits<shared_work&>& visits, const std::vector<node>& nodes) {
  return weft::parallel_reduce(
      std::size_t{0}, nodes.size(), counts{}, [&](std::size_t i) { return visits.visit(nodes[i]); },
      [](counts a, const counts& b) { return a += b; }, 1);
}

struct job_result {
  counts found;
  double seconds = 0;
  std::uint64_t asked = 0, got = 0, got_nodes = 0;
  std::uint64_t brought = 0; // nodes that were visited below those that ranks got
  double waited = 0;
};

// Of all ranks together, in rank 0.
job_result count(const tree& t, int rank) {
  shared_work work(t);
  forked_visits<shared_work&> visits(t, work);
  counts here;
  std::uint64_t brought = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  work.run(rank == 0 ? std::vector<node>{t.root()} : std::vector<node>{},
           [&](const std::vector<node>& nodes) {
             const counts found = visit_all(visits, nodes);
             here += found;
             brought += work.facts().got != 0 ? found.nodes : 0;
           });
  job_result all;
  const sharing_facts& f = work.facts();
  const std::uint64_t own[] = {here.nodes, here.leaves, f.asked, f.got, f.got_nodes, brought};
  std::uint64_t sums[6] = {};
  MPI_Reduce(own, sums, 6, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Reduce(&here.max_depth, &all.found.max_depth, 1, MPI_UINT64_T, MPI_MAX, 0, MPI_COMM_WORLD);
  MPI_Reduce(&f.waited, &all.waited, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  all.seconds = MPI_Wtime() - begin;
  all.found.nodes = sums[0];
  all.found.leaves = sums[1];
  all.asked = sums[2];
  all.got = sums[3];
  all.got_nodes = sums[4];
  all.brought = sums[5];
  return all;
}

bool report(const tree& t, const job_result& r, int ranks, int workers) {
  const bool is_right = r.found == t.published();
  std::printf("%s\n", json::value(json::object{{"ranks", ranks},
                                               {"workers", workers},
                                               {"nodes", r.found.nodes},
                                               {"leaves", r.found.leaves},
                                               {"max_depth", r.found.max_depth},
                                               {"right", is_right},
                                               {"seconds", r.seconds},
                                               {"asked", r.asked},
                                               {"steals", r.got},
                                               {"stolen_nodes", r.got_nodes},
                                               {"brought_nodes", r.brought},
                                               {"steal_seconds", r.waited}})
                          .dump()
                          .c_str());
  if (!is_right) {
    std::fprintf(stderr, "%s has %llu nodes, not %llu\n", t.name().data(),
                 static_cast<unsigned long long>(t.published().nodes),
                 static_cast<unsigned long long>(r.found.nodes));
  }
  return is_right;
}

int run(int words, char** word) {
  const tree* t = words == 3 ? find_tree(word[1]) : nullptr;
  const int workers = words == 3 ? std::atoi(word[2]) : 0;
  if (t == nullptr || workers < 1) {
    std::fprintf(stderr, "usage: weft-demo-rank TREE WORKERS\n");
    return 2;
  }
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  weft::runtime::options o;
  o.workers = static_cast<unsigned>(workers);
  const weft::runtime::scope running(o); // main() is a thread from here on
  const job_result r = count(*t, rank);
  return rank == 0 && !report(*t, r, ranks, workers) ? 1 : 0;
}

} // namespace
} // namespace weft::uts

int main(int words, char** word) {
  int granted = MPI_THREAD_SINGLE;
  MPI_Init_thread(&words, &word, MPI_THREAD_MULTIPLE, &granted);
  const int status = weft::uts::run(words, word);
  MPI_Finalize();
  return status;
}
