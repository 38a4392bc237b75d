// SPDX-License-Identifier: MIT
// fib by plain calls: the floor of a spawn's cost. With w workers, w independent processes compute it at
// the same time and the time is divided by w: the speed-up that this machine gives to work that shares
// nothing.
#include <sys/wait.h>
#include <unistd.h>

#include "bench/fib/workload.hpp"

namespace bench = weft::bench;
using bench::fib::number;

namespace {

[[gnu::noinline]] number fib(number n) {
  if (n < 2)
    return n;
  const number a = fib(n - 1);
  asm volatile(""); // keeps the compiler from turning the recursion into a loop
  return a + fib(n - 2);
}

number in_processes(number n, unsigned processes) {
  for (unsigned i = 0; i < processes; ++i) {
    if (fork() == 0)
      _exit(fib(n) == bench::fib::answer(n) ? 0 : 1);
  }
  bool right = true;
  for (unsigned i = 0; i < processes; ++i) {
    int status = 0;
    right = wait(&status) > 0 && status == 0 && right;
  }
  return right ? bench::fib::answer(n) : 0;
}

} // namespace

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, bench::fib::defaults(), {"call"});
  const unsigned workers = rec.opt().workers;
  if (workers == 1)
    return bench::fib::run(rec, [](number n) { return fib(n); });
  const std::size_t ops = bench::fib::spawns(rec.opt().n) * workers;
  bool right = true;
  rec.time_rounds(ops, [&] { right = in_processes(rec.opt().n, workers) != 0 && right; });
  rec.check(right, "fib(n) in every process");
  return rec.finish();
}
