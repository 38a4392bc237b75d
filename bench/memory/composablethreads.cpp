// SPDX-License-Identifier: MIT
// memory with ComposableThreads; each thread waits in a suspended_thread of its own. Child-first, so there
// is no "created".
#include "bench/peer/composablethreads.hpp"

#include "bench/memory/workload.hpp"

namespace bench = weft::bench;
using peer = bench::composablethreads;
using bench::memory::progress;

namespace {

struct always {
  bool operator()(peer::worker&) const { return true; }
};

void wait(void* slot) {
  progress::mark();
  static_cast<peer::suspended_thread*>(slot)->wait_with<always>();
}

} // namespace

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, bench::memory::defaults(), {"blocked"});
  peer runtime(1);
  const std::size_t n = rec.opt().n;
  auto threads = bench::memory::resident<peer::thread>(n);
  auto slots = bench::memory::resident<peer::suspended_thread>(n);
  return bench::memory::run(
      rec,
      [&] {
        for (std::size_t i = 0; i < n; ++i)
          threads[i] = peer::thread::ptr_fork(wait, &slots[i]);
      },
      [&] {
        for (std::size_t i = 0; i < n; ++i) {
          slots[i].notify();
          threads[i].join();
        }
      });
}
