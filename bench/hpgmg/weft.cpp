// SPDX-License-Identifier: MIT
// hpgmg with Weft: N workers, of which --workers are active.
#include "bench/hpgmg/workload.hpp"
#include "bench/peer/weft_regions.hpp"

namespace bench = weft::bench;

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, bench::hpgmg::defaults(), bench::hpgmg::forms(bench::weft_regions::ways()));
  const bench::hpgmg::form wanted(rec);
  bench::weft_regions regions(wanted.way, wanted.threads, std::min(rec.opt().workers, wanted.threads));
  return bench::hpgmg::run(rec, regions);
}
