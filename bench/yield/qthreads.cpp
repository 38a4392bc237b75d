// SPDX-License-Identifier: MIT
// yield with Qthreads.
#include "bench/peer/qthreads.hpp"

#include "bench/yield/workload.hpp"

namespace bench = weft::bench;

namespace {

struct part {
  std::size_t n;
  int me;
};

template <class Body>
aligned_t start(void* argument) {
  const part p = *static_cast<part*>(argument);
  bench::yield::loop<Body>(p.n, p.me, [] { qthread_yield(); });
  return 0;
}

} // namespace

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, bench::yield::defaults(), {"thread"});
  bench::qthreads runtime(1);
  part parts[2] = {{rec.opt().n, 0}, {rec.opt().n, 1}};
  return bench::yield::run(rec, [&](auto body) {
    aligned_t results[2];
    for (int i = 0; i < 2; ++i)
      qthread_fork(start<decltype(body)>, &parts[i], &results[i]);
    for (aligned_t& result : results)
      qthread_readFF(nullptr, &result);
  });
}
