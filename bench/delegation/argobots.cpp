// SPDX-License-Identifier: MIT
// delegation with ABT_mutex; several streams steal at random, as in the paper.
#include "bench/peer/argobots.hpp"

#include "bench/delegation/workload.hpp"

namespace bench = weft::bench;

namespace {

struct library {
  bench::argobots* runtime;

  template <class Body>
  void threads(std::size_t n, Body body) {
    std::vector<ABT_thread> all(n);
    for (std::size_t i = 0; i < n; ++i) {
      ABT_thread_create(
          runtime->pool(i), [](void* b) { (*static_cast<Body*>(b))(); }, &body, ABT_THREAD_ATTR_NULL,
          &all[i]);
    }
    for (ABT_thread& t : all) {
      ABT_thread_free(&t);
    }
  }
  static void yield() { ABT_self_yield(); }
};

struct mutex {
  ABT_mutex m = ABT_MUTEX_NULL;
  mutex() { ABT_mutex_create(&m); }
  mutex(const mutex&) = delete;
  ~mutex() { ABT_mutex_free(&m); }
  void lock() { ABT_mutex_lock(m); }
  void unlock() { ABT_mutex_unlock(m); }
};

} // namespace

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, bench::delegation::defaults(), bench::delegation::forms({"mutex"}));
  bench::argobots runtime(rec.opt().workers);
  return bench::delegation::run(rec, bench::delegation::by_mutex<library, mutex>{{&runtime}, {}});
}
