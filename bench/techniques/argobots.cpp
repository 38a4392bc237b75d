// SPDX-License-Identifier: MIT
// techniques against abt.h, for Argobots and for Weft's front: ULTs as the library makes them.
#include "bench/peer/argobots.hpp"
#include "bench/techniques/workload.hpp"

namespace bench = weft::bench;

namespace {

template <class Body>
void body(void* flag) {
  if (*static_cast<const char*>(flag) != 0)
    ABT_self_yield();
  Body::run();
}

} // namespace

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, bench::techniques::defaults(), bench::techniques::forms({"ult"}));
  bench::argobots runtime(1);
  const ABT_pool pool = runtime.pool(0);
  std::vector<ABT_thread> threads(rec.opt().n);
  return bench::techniques::run(rec, [&]<class Body>(std::vector<char> flags, Body) {
    for (std::size_t i = 0; i < threads.size(); ++i)
      ABT_thread_create(pool, body<Body>, &flags[i], ABT_THREAD_ATTR_NULL, &threads[i]);
    for (ABT_thread& t : threads)
      ABT_thread_free(&t);
  });
}
