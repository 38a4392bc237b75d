// SPDX-License-Identifier: MIT
// packing with Weft: N workers, n of them active.
#include "bench/packing/workload.hpp"
#include "bench/peer/weft_regions.hpp"

namespace bench = weft::bench;

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, bench::packing::defaults(),
                      bench::packing::forms(bench::weft_regions::ways()));
  bench::weft_regions regions(bench::packing::form(rec).way, static_cast<unsigned>(rec.opt().n),
                              rec.opt().workers);
  return bench::packing::run(rec, [&](unsigned threads, auto&& f) { regions.run(0, threads, f); });
}
