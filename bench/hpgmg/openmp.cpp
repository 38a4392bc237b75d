// SPDX-License-Identifier: MIT
// hpgmg with OpenMP: N threads on --workers CPUs, as taskset would put them there. "passive": threads that
// wait sleep (OMP_WAIT_POLICY); "active": they spin, as is the default of most.
#include <omp.h>

#include "bench/hpgmg/workload.hpp"
#include "bench/peer/openmp.hpp"

namespace bench = weft::bench;

namespace {

struct by_openmp {
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
  bench::openmp::wait_with_policy(wanted.way, argv);
  bench::openmp::check_runtime(rec);
  omp_set_dynamic(0);
  bench::keep_to_cpus(rec.opt().workers);
  by_openmp all;
  return bench::hpgmg::run(rec, all);
}
