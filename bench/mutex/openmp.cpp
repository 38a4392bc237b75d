// SPDX-License-Identifier: MIT
// mutex with an OpenMP lock, for any OpenMP runtime.
#include <omp.h>

#include "bench/mutex/workload.hpp"

namespace bench = weft::bench;

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, bench::mutex::defaults(), {"mutex"});
  omp_lock_t lock;
  omp_init_lock(&lock);
  return bench::mutex::run(rec, [&] { omp_set_lock(&lock); }, [&] { omp_unset_lock(&lock); });
}
