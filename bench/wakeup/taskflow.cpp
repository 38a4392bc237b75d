// SPDX-License-Identifier: MIT
// wakeup with Taskflow: a task handed to an executor whose only worker is idle.
#include <taskflow/taskflow.hpp>

#include "bench/wakeup/workload.hpp"

namespace bench = weft::bench;

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, bench::wakeup::defaults(), {"push"});
  tf::Executor executor(1);
  return bench::wakeup::run(rec, [&] {
    return bench::wakeup::latency([&] { executor.silent_async(bench::wakeup::arrival::mark); },
                                  [&] { executor.wait_for_all(); });
  });
}
