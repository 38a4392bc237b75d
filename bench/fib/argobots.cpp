// SPDX-License-Identifier: MIT
// fib with Argobots: RANDWS pools, one a worker ("randws"), and create_to, which starts the child at once.
#include "bench/peer/argobots.hpp"

#include "bench/fib/workload.hpp"

namespace bench = weft::bench;
using bench::fib::number;

namespace {

const bench::argobots* runtime = nullptr;

struct node {
  number n;
  number result;
};

template <bool CreateTo>
void fib(void* argument) {
  node& self = *static_cast<node*>(argument);
  if (self.n < 2) {
    self.result = self.n;
    return;
  }
  node a{self.n - 1, 0}, b{self.n - 2, 0};
  ABT_thread child;
  if constexpr (CreateTo) {
    ABT_thread_create_to(runtime->my_pool(), fib<true>, &a, ABT_THREAD_ATTR_NULL, &child);
  } else {
    ABT_thread_create(runtime->my_pool(), fib<false>, &a, ABT_THREAD_ATTR_NULL, &child);
  }
  fib<CreateTo>(&b);
  ABT_thread_free(&child);
  self.result = a.result + b.result;
}

} // namespace

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, bench::fib::defaults(), {"randws", "create_to"});
  bench::argobots r(rec.opt().workers, bench::argobots::sharing::stealing);
  runtime = &r;
  const auto compute = rec.form_is("create_to") ? fib<true> : fib<false>;
  return bench::fib::run(rec, [&](number n) {
    // In a thread of its own: the primary one has the kernel's stack, which would flatter the first level.
    node root{n, 0};
    ABT_thread thread;
    ABT_thread_create(r.my_pool(), compute, &root, ABT_THREAD_ATTR_NULL, &thread);
    ABT_thread_free(&thread);
    return root.result;
  });
}
