// SPDX-License-Identifier: MIT
// create_join with Weft: threads and tasklets in a private FIFO pool (one worker), and threads under the
// default work-stealing runtime ("stealing").
#include "bench/peer/weft.hpp"
#include "bench/create_join/workload.hpp"
#include "weft/thread.hpp"

namespace bench = weft::bench;

namespace {

template <class Unit, class Body>
void round(std::vector<Unit>& units, Body) {
  for (Unit& u : units)
    u = Unit([] { Body::run(); });
  for (Unit& u : units)
    u.join();
}

} // namespace

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, bench::create_join::defaults(),
                      {"thread", "tasklet", "stealing", "stealing_tasklet"});
  const weft::runtime::scope runtime(
      bench::weft_options(rec.opt().workers, rec.form_is("stealing") || rec.form_is("stealing_tasklet")));
  if (rec.form_is("tasklet") || rec.form_is("stealing_tasklet")) {
    std::vector<weft::tasklet> tasklets(rec.opt().n);
    return bench::create_join::run(rec, [&](auto body) { round(tasklets, body); });
  }
  std::vector<weft::thread> threads(rec.opt().n);
  return bench::create_join::run(rec, [&](auto body) { round(threads, body); });
}
