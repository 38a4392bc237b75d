// SPDX-License-Identifier: MIT
// wakeup with MassiveThreads, child-first: from the first instruction of the child, which keeps its worker,
// to the parent going on at an idle worker that took it.
#include "bench/peer/massivethreads.hpp"

#include "bench/wakeup/workload.hpp"

namespace bench = weft::bench;

namespace {

std::atomic<std::int64_t> published{0};

void* child(void*) {
  published = bench::now_ns();
  bench::wakeup::arrival::await();
  return nullptr;
}

std::int64_t once() {
  const myth_thread_t thread = myth_create(child, nullptr);
  const std::int64_t taken = bench::now_ns();
  bench::wakeup::arrival::mark();
  myth_join(thread, nullptr);
  return taken - published;
}

} // namespace

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, bench::wakeup::defaults(), {"push"});
  bench::massivethreads runtime(2);
  return bench::wakeup::run(rec, once);
}
