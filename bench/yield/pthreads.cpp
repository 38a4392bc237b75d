// SPDX-License-Identifier: MIT
// yield with kernel threads bound to one CPU, by sched_yield.
#include <sched.h>

#include <thread>

#include "bench/yield/workload.hpp"

namespace bench = weft::bench;

int main(int argc, char** argv) {
  auto defaults = bench::yield::defaults();
  defaults.n = 10000;
  bench::recorder rec(argc, argv, defaults, {"thread"});
  bench::pin_to_cpu(0);
  return bench::yield::run(rec, [&](auto body) {
    const auto start = [&](int me) { bench::yield::loop<decltype(body)>(rec.opt().n, me, sched_yield); };
    std::thread first(start, 0), second(start, 1);
    first.join();
    second.join();
  });
}
