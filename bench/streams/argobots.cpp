// SPDX-License-Identifier: MIT
// streams with Argobots: each stream serves a private FIFO pool for the batches, and a pool that its root is
// pushed to from outside.
#include "bench/peer/argobots.hpp"

#include "bench/streams/workload.hpp"

namespace bench = weft::bench;

namespace {

enum class form { thread, tasklet, yield, yield_to };

template <class Body>
struct root {
  bench::streams::lanes* lanes;
  unsigned k;
  ABT_pool pool;
  form what;
  std::size_t n;
  std::vector<ABT_thread> threads; // of the batch

  static void run(void* argument) {
    root& r = *static_cast<root*>(argument);
    const bool yields = r.what == form::yield || r.what == form::yield_to;
    r.threads.resize(yields ? 2 : r.n);
    r.lanes->run(r.k, [&r, yields] { yields ? r.yield_batch() : r.create_batch(); });
  }

  void create_batch() {
    const auto start = [](void*) { Body::run(); };
    for (ABT_thread& thread : threads) {
      if (what == form::tasklet) {
        ABT_task_create(pool, start, nullptr, &thread);
      } else {
        ABT_thread_create(pool, start, nullptr, ABT_THREAD_ATTR_NULL, &thread);
      }
    }
    for (ABT_thread& thread : threads)
      ABT_thread_free(&thread);
  }

  template <int Me>
  static void yielder(void* argument) {
    const root& r = *static_cast<root*>(argument);
    const bool to = r.what == form::yield_to;
    for (std::size_t i = 0; i < r.n; ++i) {
      if (to) {
        ABT_thread_yield_to(r.threads[1 - Me]);
      } else {
        ABT_self_yield();
      }
      Body::run();
    }
  }

  void yield_batch() {
    ABT_thread_create(pool, yielder<0>, this, ABT_THREAD_ATTR_NULL, &threads[0]);
    ABT_thread_create(pool, yielder<1>, this, ABT_THREAD_ATTR_NULL, &threads[1]);
    ABT_thread_join(threads[0]); // each names the other until both have ended
    ABT_thread_join(threads[1]);
    for (ABT_thread& thread : threads)
      ABT_thread_free(&thread);
  }
};

} // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> forms{"thread", "tasklet", "yield", "yield_to"};
  bench::recorder rec(argc, argv, bench::streams::defaults(), forms);
  const auto what = static_cast<form>(std::find(forms.begin(), forms.end(), rec.opt().form) - forms.begin());
  const unsigned workers = rec.opt().workers;
  bench::argobots runtime(workers, bench::argobots::sharing::lanes);
  return bench::streams::run(rec, [&](bench::streams::lanes& lanes, auto body) {
    using root_type = root<decltype(body)>;
    std::vector<root_type> roots;
    for (unsigned k = 0; k < workers; ++k)
      roots.push_back({&lanes, k, runtime.private_pool(k), what, rec.opt().n, {}});
    std::vector<ABT_thread> threads(workers);
    for (unsigned k = 0; k < workers; ++k)
      ABT_thread_create(runtime.pool(k), root_type::run, &roots[k], ABT_THREAD_ATTR_NULL, &threads[k]);
    for (ABT_thread& thread : threads)
      ABT_thread_free(&thread);
  });
}
