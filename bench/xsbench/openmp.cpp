// SPDX-License-Identifier: MIT
// xsbench with OpenMP: a parallel loop over the particles, as the original has it.
#include "bench/xsbench/workload.hpp"

namespace bench = weft::bench;
namespace xs = weft::bench::xsbench;

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, xs::defaults(), xs::forms({"loop"}));
  const int workers = static_cast<int>(rec.opt().workers);
  return xs::run(rec, [workers](xs::lookups& l) {
#pragma omp parallel for schedule(dynamic, 100) num_threads(workers)
    for (std::size_t i = 0; i < l.count(); ++i)
      l.look_up(i);
  });
}
