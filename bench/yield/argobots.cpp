// SPDX-License-Identifier: MIT
// yield with Argobots.
#include "bench/peer/argobots.hpp"

#include "bench/yield/workload.hpp"

namespace bench = weft::bench;

namespace {

struct part {
  std::size_t n;
  int me;
};

template <class Body>
void start(void* argument) {
  const part p = *static_cast<part*>(argument);
  bench::yield::loop<Body>(p.n, p.me, [] { ABT_self_yield(); });
}

} // namespace

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, bench::yield::defaults(), {"thread"});
  bench::argobots runtime(1);
  part parts[2] = {{rec.opt().n, 0}, {rec.opt().n, 1}};
  return bench::yield::run(rec, [&](auto body) {
    ABT_thread threads[2];
    for (int i = 0; i < 2; ++i) {
      ABT_thread_create(runtime.pool(0), start<decltype(body)>, &parts[i], ABT_THREAD_ATTR_NULL, &threads[i]);
    }
    for (ABT_thread& thread : threads)
      ABT_thread_free(&thread);
  });
}
