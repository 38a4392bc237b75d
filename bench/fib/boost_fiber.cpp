// SPDX-License-Identifier: MIT
// fib with Boost.Fiber on one kernel thread, children dispatched at once, pooled stacks.
#include <boost/fiber/all.hpp>

#include "bench/fib/workload.hpp"

namespace bench = weft::bench;
namespace fibers = boost::fibers;
using bench::fib::number;

namespace {

number fib(number n, fibers::pooled_fixedsize_stack& stacks) {
  if (n < 2)
    return n;
  number a = 0;
  fibers::fiber child(fibers::launch::dispatch, std::allocator_arg, stacks,
                      [&a, n, &stacks] { a = fib(n - 1, stacks); });
  const number b = fib(n - 2, stacks);
  child.join();
  return a + b;
}

} // namespace

int main(int argc, char** argv) {
  auto defaults = bench::fib::defaults();
  defaults.n = 25;
  bench::recorder rec(argc, argv, defaults, {"thread"});
  fibers::pooled_fixedsize_stack stacks(16 * 1024, 64);
  return bench::fib::run(rec, [&](number n) { return fib(n, stacks); });
}
