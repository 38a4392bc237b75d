// SPDX-License-Identifier: MIT
// fib with a oneTBB task_group a node.
#include <tbb/global_control.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include "bench/fib/workload.hpp"

namespace bench = weft::bench;
using bench::fib::number;

namespace {

number fib(number n) {
  if (n < 2)
    return n;
  number a = 0;
  tbb::task_group group;
  group.run([&a, n] { a = fib(n - 1); });
  const number b = fib(n - 2);
  group.wait();
  return a + b;
}

} // namespace

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, bench::fib::defaults(), {"tasklet"});
  tbb::global_control limit(tbb::global_control::max_allowed_parallelism, rec.opt().workers);
  tbb::task_arena arena(static_cast<int>(rec.opt().workers));
  return arena.execute([&] { return bench::fib::run(rec, fib); });
}
