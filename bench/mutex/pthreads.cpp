// SPDX-License-Identifier: MIT
// mutex with pthread_mutex_t.
#include <pthread.h>

#include "bench/mutex/workload.hpp"

namespace bench = weft::bench;

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, bench::mutex::defaults(), {"mutex"});
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  return bench::mutex::run(rec, [&] { pthread_mutex_lock(&mutex); }, [&] { pthread_mutex_unlock(&mutex); });
}
