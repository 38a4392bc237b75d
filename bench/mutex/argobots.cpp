// SPDX-License-Identifier: MIT
// mutex with ABT_mutex, in the primary thread.
#include "bench/peer/argobots.hpp"

#include "bench/mutex/workload.hpp"

namespace bench = weft::bench;

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, bench::mutex::defaults(), {"mutex"});
  bench::argobots runtime(1);
  ABT_mutex mutex;
  ABT_mutex_create(&mutex);
  const int result = bench::mutex::run(rec, [&] { ABT_mutex_lock(mutex); }, [&] { ABT_mutex_unlock(mutex); });
  ABT_mutex_free(&mutex);
  return result;
}
