// SPDX-License-Identifier: MIT
// fib with a Taskflow task group a node, as in its own example.
#include <taskflow/taskflow.hpp>

#include "bench/fib/workload.hpp"

namespace bench = weft::bench;
using bench::fib::number;

namespace {

number fib(tf::Executor& executor, number n) {
  if (n < 2)
    return n;
  number a = 0;
  tf::TaskGroup group = executor.task_group();
  group.silent_async([&executor, &a, n] { a = fib(executor, n - 1); });
  const number b = fib(executor, n - 2);
  group.corun();
  return a + b;
}

} // namespace

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, bench::fib::defaults(), {"tasklet"});
  tf::Executor executor(rec.opt().workers);
  return bench::fib::run(rec,
                         [&](number n) { return executor.async([&] { return fib(executor, n); }).get(); });
}
