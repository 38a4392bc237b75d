// SPDX-License-Identifier: MIT
// delegation with kernel threads and pthread_mutex_t; --workers only says how many CPUs it may have.
#include <pthread.h>
#include <sched.h>

#include <thread>

#include "bench/delegation/workload.hpp"

namespace bench = weft::bench;

namespace {

struct library {
  template <class Body>
  void threads(std::size_t n, Body body) {
    std::vector<std::thread> all;
    for (std::size_t i = 0; i < n; ++i) {
      all.emplace_back([&body] { body(); });
    }
    for (std::thread& t : all) {
      t.join();
    }
  }
  static void yield() { sched_yield(); }
};

struct mutex {
  pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
  void lock() { pthread_mutex_lock(&m); }
  void unlock() { pthread_mutex_unlock(&m); }
};

} // namespace

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, bench::delegation::defaults(), bench::delegation::forms({"mutex"}));
  if (rec.opt().workers == 1) {
    bench::pin_to_cpu(0);
  }
  return bench::delegation::run(rec, bench::delegation::by_mutex<library, mutex>{});
}
