// SPDX-License-Identifier: MIT
// create_join with kernel threads.
#include <pthread.h>

#include "bench/create_join/workload.hpp"

namespace bench = weft::bench;

int main(int argc, char** argv) {
  auto defaults = bench::create_join::defaults();
  defaults.n = 64;
  bench::recorder rec(argc, argv, defaults, {"thread"});
  std::vector<pthread_t> threads(rec.opt().n);
  return bench::create_join::run(rec, [&](auto body) {
    using body_type = decltype(body);
    const auto start = [](void*) -> void* {
      body_type::run();
      return nullptr;
    };
    for (pthread_t& thread : threads) {
      if (pthread_create(&thread, nullptr, start, nullptr) != 0)
        rec.check(false, "pthread_create");
    }
    for (pthread_t thread : threads)
      pthread_join(thread, nullptr);
  });
}
