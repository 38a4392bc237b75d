// SPDX-License-Identifier: MIT
// create_join with ComposableThreads (child-first).
#include "bench/peer/composablethreads.hpp"

#include "bench/create_join/workload.hpp"

namespace bench = weft::bench;

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, bench::create_join::defaults(), {"thread"});
  bench::composablethreads runtime(rec.opt().workers);
  using thread = bench::composablethreads::thread;
  std::vector<thread> threads(rec.opt().n);
  return bench::create_join::run(rec, [&](auto body) {
    using body_type = decltype(body);
    for (thread& t : threads)
      t = thread::ptr_fork([](void*) { body_type::run(); }, nullptr);
    for (thread& t : threads)
      t.join();
  });
}
