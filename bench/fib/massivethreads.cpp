// SPDX-License-Identifier: MIT
// fib with MassiveThreads, child-first.
#include "bench/peer/massivethreads.hpp"

#include "bench/fib/workload.hpp"

namespace bench = weft::bench;
using bench::fib::number;

namespace {

struct node {
  number n;
  number result;
};

void* fib(void* argument) {
  node& self = *static_cast<node*>(argument);
  if (self.n < 2) {
    self.result = self.n;
    return nullptr;
  }
  node a{self.n - 1, 0}, b{self.n - 2, 0};
  const myth_thread_t child = myth_create(fib, &a);
  fib(&b);
  myth_join(child, nullptr);
  self.result = a.result + b.result;
  return nullptr;
}

} // namespace

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, bench::fib::defaults(), {"thread"});
  bench::massivethreads runtime(rec.opt().workers);
  return bench::fib::run(rec, [](number n) {
    node root{n, 0};
    fib(&root);
    return root.result;
  });
}
