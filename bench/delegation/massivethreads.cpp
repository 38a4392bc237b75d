// SPDX-License-Identifier: MIT
// delegation with myth_mutex_t; parent first, so that all threads are there before one runs to its end.
#include "bench/peer/massivethreads.hpp"

#include "bench/delegation/workload.hpp"

namespace bench = weft::bench;

namespace {

struct library {
  template <class Body>
  void threads(std::size_t n, Body body) {
    myth_thread_attr_t queued = bench::parent_first();
    const auto start = [](void* b) -> void* {
      (*static_cast<Body*>(b))();
      return nullptr;
    };
    std::vector<myth_thread_t> all(n);
    for (myth_thread_t& t : all) {
      myth_create_ex(&t, &queued, start, &body);
    }
    for (myth_thread_t t : all) {
      myth_join(t, nullptr);
    }
  }
  static void yield() { myth_yield(); }
};

struct mutex {
  myth_mutex_t m;
  mutex() { myth_mutex_init(&m, nullptr); }
  mutex(const mutex&) = delete;
  ~mutex() { myth_mutex_destroy(&m); }
  void lock() { myth_mutex_lock(&m); }
  void unlock() { myth_mutex_unlock(&m); }
};

} // namespace

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, bench::delegation::defaults(), bench::delegation::forms({"mutex"}));
  bench::massivethreads runtime(rec.opt().workers);
  return bench::delegation::run(rec, bench::delegation::by_mutex<library, mutex>{});
}
