// SPDX-License-Identifier: MIT
// mutex with myth_mutex_t, in the main thread.
#include "bench/peer/massivethreads.hpp"

#include "bench/mutex/workload.hpp"

namespace bench = weft::bench;

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, bench::mutex::defaults(), {"mutex"});
  bench::massivethreads runtime(1);
  myth_mutex_t mutex;
  myth_mutex_init(&mutex, nullptr);
  return bench::mutex::run(rec, [&] { myth_mutex_lock(&mutex); }, [&] { myth_mutex_unlock(&mutex); });
}
