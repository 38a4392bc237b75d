// SPDX-License-Identifier: MIT
// memory with Boost.Fiber, stacks from fixedsize_stack (malloc).
#include <boost/fiber/all.hpp>

#include "bench/memory/workload.hpp"

namespace bench = weft::bench;
namespace fibers = boost::fibers;
using bench::memory::progress;

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, bench::memory::defaults(), {"created", "blocked"});
  const bool blocked = rec.form_is("blocked");
  auto threads = bench::memory::resident<fibers::fiber>(rec.opt().n);
  fibers::fixedsize_stack stacks(bench::memory::stack_size);
  fibers::mutex gate;
  return bench::memory::run(
      rec,
      [&] {
        if (blocked)
          gate.lock();
        for (fibers::fiber& thread : threads) {
          thread = fibers::fiber(std::allocator_arg, stacks, [&gate] {
            progress::mark();
            gate.lock();
            gate.unlock();
          });
        }
        while (blocked && progress::started < rec.opt().n)
          boost::this_fiber::yield();
      },
      [&] {
        if (blocked)
          gate.unlock();
        for (fibers::fiber& thread : threads)
          thread.join();
      });
}
