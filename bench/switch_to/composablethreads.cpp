// SPDX-License-Identifier: MIT
// switch_to with ComposableThreads: suspended_thread::swap.
#include "bench/peer/composablethreads.hpp"

#include "bench/switch_to/workload.hpp"

namespace bench = weft::bench;
using peer = bench::composablethreads;
using bench::switch_to::turns;

namespace {

struct always {
  bool operator()(peer::worker&) const { return true; }
};

} // namespace

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, bench::switch_to::defaults(), {"suspend_to"});
  peer runtime(1);
  const std::size_t n = rec.opt().n;
  return bench::switch_to::run(rec, [&](turns& t) {
    peer::suspended_thread waiting[2];
    peer::thread second([&] {
      waiting[1].wait_with<always>();
      for (std::size_t i = 0; i < n; ++i) {
        t.step(1);
        waiting[1].swap(waiting[0]);
      }
    });
    peer::thread first([&] {
      for (std::size_t i = 0; i < n; ++i) {
        t.step(0);
        waiting[0].swap(waiting[1]);
      }
      waiting[1].notify();
    });
    first.join();
    second.join();
  });
}
