// SPDX-License-Identifier: MIT
// lateness with oneTBB: the sleeper is a kernel thread beside its workers, as its programs have it.
#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_invoke.h>
#include <tbb/parallel_reduce.h>
#include <tbb/task_group.h>

#include <functional>
#include <thread>

#include "bench/lateness/workload.hpp"

namespace bench = weft::bench;
using bench::lateness::computation;

namespace {

void halves(computation& c, std::size_t leaves) {
  if (leaves == 1)
    return c.leaf();
  tbb::parallel_invoke([&] { halves(c, leaves / 2); }, [&] { halves(c, leaves - leaves / 2); });
}

void group(computation& c, std::size_t leaves) {
  tbb::task_group all;
  for (std::size_t i = 0; i < leaves; ++i)
    all.run([&c] { c.leaf(); });
  all.wait();
}

void sum(computation& c, std::size_t leaves) {
  static_cast<void>(tbb::parallel_reduce(
      tbb::blocked_range<std::size_t>(0, leaves), 0,
      [&c](const tbb::blocked_range<std::size_t>& part, int before) {
        for (std::size_t i = part.begin(); i != part.end(); ++i)
          c.leaf();
        return before + static_cast<int>(part.size());
      },
      std::plus<>()));
}

} // namespace

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, bench::lateness::defaults(),
                      {"fork_join", "parallel_for", "parallel_reduce", "task_group"});
  bench::keep_to_cpus(rec.opt().workers);
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, rec.opt().workers);
  computation c(rec);
  std::jthread sleeper;
  return c.run(
      [&] {
        sleeper = std::jthread(
            [&c] { c.beat([] { std::this_thread::sleep_for(bench::lateness::sleep_length); }); });
      },
      [&](std::size_t leaves) {
        if (rec.form_is("fork_join"))
          return halves(c, leaves);
        if (rec.form_is("task_group"))
          return group(c, leaves);
        if (rec.form_is("parallel_reduce"))
          return sum(c, leaves);
        tbb::parallel_for(std::size_t{0}, leaves, [&c](std::size_t) { c.leaf(); });
      },
      [&] { sleeper.join(); });
}
