// SPDX-License-Identifier: MIT
// wakeup with ComposableThreads, child-first: from the first instruction of the child, which keeps its
// worker, to the parent going on at an idle worker that took it.
#include "bench/peer/composablethreads.hpp"

#include "bench/wakeup/workload.hpp"

namespace bench = weft::bench;
using peer = bench::composablethreads;

namespace {

std::atomic<std::int64_t> published{0};

void child(void*) {
  published = bench::now_ns();
  bench::wakeup::arrival::await();
}

std::int64_t once() {
  auto thread = peer::thread::ptr_fork(child, nullptr);
  const std::int64_t taken = bench::now_ns();
  bench::wakeup::arrival::mark();
  thread.join();
  return taken - published;
}

} // namespace

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, bench::wakeup::defaults(), {"push"});
  peer runtime(2);
  return bench::wakeup::run(rec, once);
}
