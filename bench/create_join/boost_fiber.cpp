// SPDX-License-Identifier: MIT
// create_join with Boost.Fiber, its default scheduler, pooled stacks of 16 KiB.
#include <boost/fiber/all.hpp>

#include "bench/create_join/workload.hpp"

namespace bench = weft::bench;
namespace fibers = boost::fibers;

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, bench::create_join::defaults(), {"thread"});
  std::vector<fibers::fiber> threads(rec.opt().n);
  fibers::pooled_fixedsize_stack stacks(16 * 1024, 64);
  return bench::create_join::run(rec, [&](auto body) {
    using body_type = decltype(body);
    for (fibers::fiber& thread : threads) {
      thread = fibers::fiber(std::allocator_arg, stacks, [] { body_type::run(); });
    }
    for (fibers::fiber& thread : threads)
      thread.join();
  });
}
