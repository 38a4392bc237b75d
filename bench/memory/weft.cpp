// SPDX-License-Identifier: MIT
// memory with Weft; threads wait on one latch.
#include "bench/peer/weft.hpp"
#include "bench/memory/workload.hpp"
#include "weft/latch.hpp"
#include "weft/thread.hpp"

namespace bench = weft::bench;
using bench::memory::progress;

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, bench::memory::defaults(), {"created", "blocked", "tasklet_created"});
  const weft::runtime::scope runtime(bench::weft_options(1));
  const bool tasklets = rec.form_is("tasklet_created");
  auto threads = bench::memory::resident<weft::thread>(tasklets ? 0 : rec.opt().n);
  auto units = bench::memory::resident<weft::tasklet>(tasklets ? rec.opt().n : 0);
  weft::latch gate(1);
  weft::thread_attributes small;
  small.stack_size = bench::memory::stack_size;
  const auto reach = [&] {
    for (weft::thread& t : threads) {
      t = weft::thread(small, [&gate] {
        progress::mark();
        gate.wait();
      });
    }
    for (weft::tasklet& u : units)
      u = weft::tasklet([] { progress::mark(); });
    while (rec.form_is("blocked") && progress::started < rec.opt().n)
      weft::this_thread::yield();
  };
  const auto leave = [&] {
    gate.count_down();
    for (weft::thread& t : threads)
      t.join();
    for (weft::tasklet& u : units)
      u.join();
  };
  return bench::memory::run(rec, reach, leave);
}
