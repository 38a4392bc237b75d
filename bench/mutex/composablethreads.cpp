// SPDX-License-Identifier: MIT
// mutex with ComposableThreads' MCS mutex, in the main thread.
#include "bench/peer/composablethreads.hpp"

#include "bench/mutex/workload.hpp"

namespace bench = weft::bench;
using peer = bench::composablethreads;

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, bench::mutex::defaults(), {"mutex"});
  peer runtime(1);
  peer::mutex mutex;
  return bench::mutex::run(rec, [&] { mutex.lock(); }, [&] { mutex.unlock(); });
}
