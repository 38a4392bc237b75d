// SPDX-License-Identifier: MIT
// tls_blocks with kernel threads.
#include <pthread.h>

#include <vector>

#include "bench/tls_blocks/workload.hpp"

namespace bench = weft::bench;

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, bench::tls_blocks::defaults(), {"thread"});
  std::vector<pthread_t> threads(rec.opt().n);
  bench::tls_blocks::time_rounds(rec, true, [&] {
    const auto start = [](void*) -> void* {
      bench::tls_blocks::body::run();
      return nullptr;
    };
    for (pthread_t& thread : threads) {
      if (::pthread_create(&thread, nullptr, start, nullptr) != 0)
        rec.check(false, "pthread_create");
    }
    for (const pthread_t thread : threads)
      ::pthread_join(thread, nullptr);
  });
  return rec.finish();
}
