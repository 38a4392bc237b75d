// SPDX-License-Identifier: MIT
// wakeup with a oneTBB task, spawned from inside an arena whose other worker is idle.
#include <tbb/global_control.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include "bench/wakeup/workload.hpp"

namespace bench = weft::bench;

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, bench::wakeup::defaults(), {"push"});
  tbb::global_control limit(tbb::global_control::max_allowed_parallelism, rec.opt().workers);
  tbb::task_arena arena(static_cast<int>(rec.opt().workers));
  return arena.execute([&] {
    tbb::task_group group;
    return bench::wakeup::run(rec, [&] {
      return bench::wakeup::latency([&] { group.run(bench::wakeup::arrival::mark); }, [&] { group.wait(); });
    });
  });
}
