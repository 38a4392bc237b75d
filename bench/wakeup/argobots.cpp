// SPDX-License-Identifier: MIT
// wakeup with Argobots: a ULT pushed into the pool of an idle execution stream, under the basic scheduler and
// (push_wait) under BASIC_WAIT.
#include "bench/peer/argobots.hpp"

#include "bench/wakeup/workload.hpp"

namespace bench = weft::bench;

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, bench::wakeup::defaults(), {"push", "push_wait"});
  using sharing = bench::argobots::sharing;
  bench::argobots runtime(2, rec.form_is("push") ? sharing::directed : sharing::directed_waiting);
  const auto start = [](void*) { bench::wakeup::arrival::mark(); };
  ABT_thread thread;
  return bench::wakeup::run(rec, [&] {
    return bench::wakeup::latency(
        [&] { ABT_thread_create(runtime.pool(1), start, nullptr, ABT_THREAD_ATTR_NULL, &thread); },
        [&] { ABT_thread_free(&thread); });
  });
}
