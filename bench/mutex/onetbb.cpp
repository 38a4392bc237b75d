// SPDX-License-Identifier: MIT
// mutex with tbb::spin_mutex: oneTBB's tasks may not block, so it has no other before 2021.11.
#include <tbb/spin_mutex.h>

#include "bench/mutex/workload.hpp"

namespace bench = weft::bench;

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, bench::mutex::defaults(), {"spin"});
  tbb::spin_mutex mutex;
  return bench::mutex::run(rec, [&] { mutex.lock(); }, [&] { mutex.unlock(); });
}
