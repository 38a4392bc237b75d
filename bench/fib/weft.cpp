// SPDX-License-Identifier: MIT
// fib with Weft: fork and join ("fork"), and a thread per spawn under the same runtime ("thread").
#include "bench/peer/weft.hpp"
#include "bench/fib/workload.hpp"
#include "weft/fork_join.hpp"
#include "weft/thread.hpp"

namespace bench = weft::bench;
using bench::fib::number;

namespace {

number forks(number n) {
  if (n < 2)
    return n;
  auto a = weft::fork([n] { return forks(n - 1); });
  const number b = forks(n - 2);
  return a.join() + b;
}

number threads(number n) {
  if (n < 2)
    return n;
  number a = 0;
  weft::thread child([&a, n] { a = threads(n - 1); });
  const number b = threads(n - 2);
  child.join();
  return a + b;
}

} // namespace

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, bench::fib::defaults(), {"fork", "thread"});
  const weft::runtime::scope runtime(bench::weft_options(rec.opt().workers, true));
  const auto compute = rec.form_is("fork") ? forks : threads;
  return bench::fib::run(rec, [compute](number n) {
    // In a thread of its own: the primary one has the kernel's stack, which would flatter the first level.
    number result = 0;
    weft::thread root([&] { result = compute(n); });
    root.join();
    return result;
  });
}
