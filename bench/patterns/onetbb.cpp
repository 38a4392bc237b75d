// SPDX-License-Identifier: MIT
// The patterns with oneTBB: a task_group where tasks are created one by one, parallel_for for loops.
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include "bench/patterns/workload.hpp"

namespace bench = weft::bench;
namespace patterns = weft::bench::patterns;

namespace {

using patterns::work;

void parts(const work& w, std::size_t base, auto&& body) {
  tbb::parallel_for(
      0U, w.workers, [&](unsigned k) { body(base + w.begin_of(k), base + w.begin_of(k + 1)); },
      tbb::simple_partitioner());
}

void tasks(work& w, std::size_t first, std::size_t last) {
  tbb::task_group group;
  for (std::size_t i = first; i < last; ++i)
    group.run([&w, i] { w.scale_one(i); });
  group.wait();
}

struct onetbb {
  template <class Created>
  void per_worker(work& w, Created&& created) {
    tbb::task_group group;
    for (std::size_t k = 0; k < w.workers; ++k)
      group.run([&w, k] { w.scale_one(k); });
    created();
    group.wait();
  }
  void for_loop(work& w) {
    parts(w, 0, [&](std::size_t first, std::size_t last) { w.scale(first, last); });
  }
  void single(work& w) { tasks(w, 0, w.n); }
  void parallel(work& w) {
    parts(w, 0, [&](std::size_t first, std::size_t last) { tasks(w, first, last); });
  }
  void nested(work& w) {
    parts(w, 0, [&](std::size_t first, std::size_t last) {
      for (std::size_t row = first; row < last; ++row)
        parts(w, row * w.n, [&](std::size_t from, std::size_t to) { w.scale(from, to); });
    });
  }
};

} // namespace

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, patterns::defaults(), patterns::forms({"tasklet"}));
  tbb::global_control limit(tbb::global_control::max_allowed_parallelism, rec.opt().workers);
  tbb::task_arena arena(static_cast<int>(rec.opt().workers));
  return arena.execute([&] { return patterns::run(rec, onetbb()); });
}
