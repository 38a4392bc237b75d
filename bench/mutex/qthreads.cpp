// SPDX-License-Identifier: MIT
// mutex with Qthreads: full/empty bits used as a lock (qthread_lock).
#include "bench/peer/qthreads.hpp"

#include "bench/mutex/workload.hpp"

namespace bench = weft::bench;

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, bench::mutex::defaults(), {"mutex"});
  bench::qthreads runtime(1);
  aligned_t mutex = 0;
  return bench::mutex::run(rec, [&] { qthread_lock(&mutex); }, [&] { qthread_unlock(&mutex); });
}
