// SPDX-License-Identifier: MIT
// hpgmg with OpenMP: N threads on --workers CPUs, as taskset would put them there. "passive": threads that
// wait sleep (OMP_WAIT_POLICY); "active": they spin, as is the default of most.
#include <omp.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "bench/hpgmg/workload.hpp"

namespace bench = weft::bench;

namespace {

struct openmp {
  template <class F>
  void run(int, unsigned threads, F&& f) {
#pragma omp parallel num_threads(threads)
    f(static_cast<unsigned>(omp_get_thread_num()));
  }
};

} // namespace

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, bench::hpgmg::defaults(), bench::hpgmg::forms({"passive", "active"}));
  const bench::hpgmg::form wanted(rec);
  // The runtime has read its environment before main.
  if (const char* set = std::getenv("OMP_WAIT_POLICY"); set == nullptr || set != wanted.way) {
    ::setenv("OMP_WAIT_POLICY", wanted.way.c_str(), 1);
    ::unsetenv("KMP_BLOCKTIME");
    ::execv("/proc/self/exe", argv);
    std::perror("execv");
    return 1;
  }
  omp_set_dynamic(0);
  bench::keep_to_cpus(rec.opt().workers);
  openmp all;
  return bench::hpgmg::run(rec, all);
}
