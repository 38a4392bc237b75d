// SPDX-License-Identifier: MIT
// yield with MassiveThreads.
#include "bench/peer/massivethreads.hpp"

#include "bench/yield/workload.hpp"

namespace bench = weft::bench;

namespace {

struct part {
  std::size_t n;
  int me;
};

template <class Body>
void* start(void* argument) {
  const part p = *static_cast<part*>(argument);
  bench::yield::loop<Body>(p.n, p.me, myth_yield);
  return nullptr;
}

} // namespace

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, bench::yield::defaults(), {"thread"});
  bench::massivethreads runtime(1);
  part parts[2] = {{rec.opt().n, 0}, {rec.opt().n, 1}};
  return bench::yield::run(rec, [&](auto body) {
    const myth_thread_t first = myth_create(start<decltype(body)>, &parts[0]);
    const myth_thread_t second = myth_create(start<decltype(body)>, &parts[1]);
    myth_join(first, nullptr);
    myth_join(second, nullptr);
  });
}
