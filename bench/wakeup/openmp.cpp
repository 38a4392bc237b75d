// SPDX-License-Identifier: MIT
// wakeup with an OpenMP task, taken by a thread that waits in the barrier of a single construct.
#include "bench/wakeup/workload.hpp"

namespace bench = weft::bench;

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, bench::wakeup::defaults(), {"push"});
  int result = 0;
#pragma omp parallel num_threads(rec.opt().workers)
#pragma omp single
  result = bench::wakeup::run(rec, [&] {
    return bench::wakeup::latency(
        [] {
#pragma omp task
          bench::wakeup::arrival::mark();
        },
        [] {
#pragma omp taskwait
        });
  });
  return result;
}
