// SPDX-License-Identifier: MIT
// fib with std::async(std::launch::async): a kernel thread a spawn, so only small n are reasonable.
#include <future>

#include "bench/fib/workload.hpp"

namespace bench = weft::bench;
using bench::fib::number;

namespace {

number fib(number n) {
  if (n < 2)
    return n;
  auto a = std::async(std::launch::async, fib, n - 1);
  const number b = fib(n - 2);
  return a.get() + b;
}

} // namespace

int main(int argc, char** argv) {
  auto defaults = bench::fib::defaults();
  defaults.n = 15;
  bench::recorder rec(argc, argv, defaults, {"thread"});
  return bench::fib::run(rec, fib);
}
