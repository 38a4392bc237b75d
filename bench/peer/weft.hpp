// SPDX-License-Identifier: MIT
// The runtime as a benchmark wants it.
#pragma once

#include "bench/common/bench.hpp"
#include "weft/runtime.hpp"

namespace weft::bench {

// One worker: a private FIFO pool, as the peers' fastest set-up has it. More: work stealing.
inline runtime::options weft_options(unsigned workers, bool stealing = false) {
  runtime::options o;
  o.workers = workers;
  o.pools = workers == 1 && !stealing ? sched::arrangement::pool_per_worker : sched::arrangement::stealing;
  return o;
}

} // namespace weft::bench
