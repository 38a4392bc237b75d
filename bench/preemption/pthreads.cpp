// SPDX-License-Identifier: MIT
// preemption of kernel threads by the kernel, on one CPU: sched_yield() in place of a tick to oneself, and
// the kernel's own ticks, whose interval --n does not change.
#include <sched.h>

#include <thread>

#include "bench/preemption/workload.hpp"

namespace bench = weft::bench;
namespace preemption = weft::bench::preemption;

int main(int argc, char** argv) {
  auto defaults = preemption::defaults();
  defaults.rounds = 100;
  bench::recorder rec(argc, argv, defaults, {"switch.kernel", "tick.kernel"});
  bench::pin_to_cpu(0);
  const std::size_t n = rec.opt().rounds;
  std::vector<double> all_lost;
  for (std::size_t repeat = 0; repeat < rec.opt().repeats; ++repeat) {
    preemption::relay r;
    r.reserve(n);
    const auto body = [&](int me) {
      if (rec.form_is("switch.kernel"))
        return preemption::leave_in_turn(r, me, n, sched_yield);
      preemption::watch_clock(r, me, n, bench::now_ns() + 5'000'000'000);
    };
    std::thread first(body, 0), second(body, 1);
    first.join();
    second.join();
    rec.check(!r.gaps.empty(), "the other thread took over");
    rec.add_sample(preemption::median_of(r.gaps));
    rec.add_ops(r.gaps.size());
  }
  rec.unit("ns");
  return rec.finish();
}
