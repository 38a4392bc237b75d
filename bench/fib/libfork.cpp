// SPDX-License-Identifier: MIT
// fib with libfork (stackless coroutines), as in its own benchmark.
#include <libfork.hpp>

#include "bench/fib/workload.hpp"

namespace bench = weft::bench;
using bench::fib::number;

namespace {

constexpr auto fib = [](auto self, number n) LF_STATIC_CALL -> lf::task<number> {
  if (n < 2)
    co_return n;
  number a = 0, b = 0;
  co_await lf::fork(&a, self)(n - 1);
  co_await lf::call(&b, self)(n - 2);
  co_await lf::join;
  co_return a + b;
};

} // namespace

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, bench::fib::defaults(), {"tasklet"});
  lf::lazy_pool pool(rec.opt().workers);
  return bench::fib::run(rec, [&](number n) { return lf::sync_wait(pool, fib, n); });
}
