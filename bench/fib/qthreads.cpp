// SPDX-License-Identifier: MIT
// fib with Qthreads, joined through full/empty bits, as in its own examples.
#include "bench/peer/qthreads.hpp"

#include "bench/fib/workload.hpp"

namespace bench = weft::bench;
using bench::fib::number;

namespace {

aligned_t fib(void* argument) {
  const auto n = reinterpret_cast<std::uintptr_t>(argument);
  if (n < 2)
    return n;
  aligned_t a = 0;
  qthread_fork(fib, reinterpret_cast<void*>(n - 1), &a);
  const aligned_t b = fib(reinterpret_cast<void*>(n - 2));
  qthread_readFF(nullptr, &a);
  return a + b;
}

} // namespace

int main(int argc, char** argv) {
  auto defaults = bench::fib::defaults();
  defaults.n = 25;
  bench::recorder rec(argc, argv, defaults, {"thread"});
  bench::qthreads runtime(rec.opt().workers);
  return bench::fib::run(rec, [](number n) -> number { return fib(reinterpret_cast<void*>(n)); });
}
