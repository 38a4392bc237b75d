// SPDX-License-Identifier: MIT
// create_join with OpenMP tasks, for any OpenMP runtime. With one thread a runtime may run a task at once
// instead of queueing it (libgomp does), so read its figure as that of a call.
#include "bench/create_join/workload.hpp"

namespace bench = weft::bench;

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, bench::create_join::defaults(), {"tasklet"});
  int result = 0;
#pragma omp parallel num_threads(rec.opt().workers)
#pragma omp single
  result = bench::create_join::run(rec, [&](auto body) {
    using body_type = decltype(body);
    for (std::size_t i = 0; i < rec.opt().n; ++i) {
#pragma omp task
      body_type::run();
    }
#pragma omp taskwait
  });
  return result;
}
