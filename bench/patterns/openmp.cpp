// SPDX-License-Identifier: MIT
// The patterns with OpenMP, for any OpenMP runtime, whose threads wait as the variant says. create: until the
// master has begun its part of the team's work; join: from the end of its part. What stands outside the
// work-sharing of a region is noted, so that a team counts as units on each of its threads.
#include <omp.h>

#include "bench/patterns/workload.hpp"
#include "bench/peer/openmp.hpp"

namespace bench = weft::bench;
namespace patterns = weft::bench::patterns;

namespace {

using patterns::work;

struct openmp {
  template <class Created>
  void per_worker(work& w, Created&& created) {
#pragma omp parallel num_threads(w.workers)
    {
      w.scale_one(static_cast<std::size_t>(omp_get_thread_num()));
#pragma omp master
      created();
    }
  }

  void for_loop(work& w) {
#pragma omp parallel for num_threads(w.workers) schedule(static)
    for (unsigned k = 0; k < w.workers; ++k)
      w.scale(w.begin_of(k), w.begin_of(k + 1));
  }

  void single(work& w) {
#pragma omp parallel num_threads(w.workers)
    {
      w.note();
#pragma omp single
      for (std::size_t i = 0; i < w.n; ++i) {
#pragma omp task firstprivate(i)
        w.scale_one(i);
      }
    }
  }

  void parallel(work& w) {
#pragma omp parallel num_threads(w.workers)
    {
      w.note();
#pragma omp for schedule(static)
      for (std::size_t i = 0; i < w.n; ++i) {
#pragma omp task firstprivate(i)
        w.scale_one(i);
      }
    }
  }

  void nested(work& w) {
#pragma omp parallel for num_threads(w.workers) schedule(static)
    for (std::size_t row = 0; row < w.n; ++row) {
#pragma omp parallel for num_threads(w.workers) schedule(static)
      for (unsigned k = 0; k < w.workers; ++k)
        w.scale(row * w.n + w.begin_of(k), row * w.n + w.begin_of(k + 1));
    }
  }
};

} // namespace

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, patterns::defaults(), patterns::forms({"active", "passive", "default"}));
  bench::openmp::wait_with_policy(patterns::form(rec).variant, argv);
  bench::openmp::check_runtime(rec);
  omp_set_dynamic(0);
  omp_set_max_active_levels(2);
  return patterns::run(rec, openmp());
}
