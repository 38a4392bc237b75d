// SPDX-License-Identifier: MIT
// fib with ComposableThreads, child-first.
#include "bench/peer/composablethreads.hpp"

#include "bench/fib/workload.hpp"

namespace bench = weft::bench;
using peer = bench::composablethreads;
using bench::fib::number;

namespace {

struct node {
  number n;
  number result;
};

void fib(void* argument) {
  node& self = *static_cast<node*>(argument);
  if (self.n < 2) {
    self.result = self.n;
    return;
  }
  node a{self.n - 1, 0}, b{self.n - 2, 0};
  auto child = peer::thread::ptr_fork(fib, &a);
  fib(&b);
  child.join();
  self.result = a.result + b.result;
}

} // namespace

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, bench::fib::defaults(), {"thread"});
  peer runtime(rec.opt().workers);
  return bench::fib::run(rec, [](number n) {
    node root{n, 0};
    fib(&root);
    return root.result;
  });
}
