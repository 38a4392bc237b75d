// SPDX-License-Identifier: MIT
// yield with Boost.Fiber.
#include <boost/fiber/all.hpp>

#include "bench/yield/workload.hpp"

namespace bench = weft::bench;

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, bench::yield::defaults(), {"thread"});
  return bench::yield::run(rec, [&](auto body) {
    const auto start = [&](int me) {
      bench::yield::loop<decltype(body)>(rec.opt().n, me, [] { boost::this_fiber::yield(); });
    };
    boost::fibers::fiber first(start, 0), second(start, 1);
    first.join();
    second.join();
  });
}
