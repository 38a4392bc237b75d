// SPDX-License-Identifier: MIT
// yield with ComposableThreads.
#include "bench/peer/composablethreads.hpp"

#include "bench/yield/workload.hpp"

namespace bench = weft::bench;
using peer = bench::composablethreads;

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, bench::yield::defaults(), {"thread"});
  peer runtime(1);
  return bench::yield::run(rec, [&](auto body) {
    const auto start = [&](int me) {
      bench::yield::loop<decltype(body)>(rec.opt().n, me, [] { peer::this_thread::yield(); });
    };
    peer::thread first(start, 0), second(start, 1);
    first.join();
    second.join();
  });
}
