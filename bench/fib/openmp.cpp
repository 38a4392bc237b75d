// SPDX-License-Identifier: MIT
// fib with OpenMP tasks, for any OpenMP runtime.
#include "bench/fib/workload.hpp"

namespace bench = weft::bench;
using bench::fib::number;

namespace {

number fib(number n) {
  if (n < 2)
    return n;
  number a = 0;
#pragma omp task shared(a) firstprivate(n)
  a = fib(n - 1);
  const number b = fib(n - 2);
#pragma omp taskwait
  return a + b;
}

} // namespace

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, bench::fib::defaults(), {"tasklet"});
  int result = 0;
#pragma omp parallel num_threads(rec.opt().workers)
#pragma omp single
  result = bench::fib::run(rec, fib);
  return result;
}
