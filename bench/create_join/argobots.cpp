// SPDX-License-Identifier: MIT
// create_join with Argobots: ULTs and tasklets in a FIFO pool (private with one execution stream).
#include "bench/peer/argobots.hpp"

#include "bench/create_join/workload.hpp"

namespace bench = weft::bench;

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, bench::create_join::defaults(), {"thread", "tasklet", "join_many"});
  bench::argobots runtime(rec.opt().workers);
  const std::size_t n = rec.opt().n;
  std::vector<ABT_thread> threads(n);
  const bool tasklet = rec.form_is("tasklet"), many = rec.form_is("join_many");
  return bench::create_join::run(rec, [&](auto body) {
    using body_type = decltype(body);
    const auto start = [](void*) { body_type::run(); };
    for (std::size_t i = 0; i < n; ++i) {
      const ABT_pool pool = runtime.pool(i);
      if (tasklet) {
        ABT_task_create(pool, start, nullptr, &threads[i]);
      } else {
        ABT_thread_create(pool, start, nullptr, ABT_THREAD_ATTR_NULL, &threads[i]);
      }
    }
    if (many) {
      ABT_thread_free_many(static_cast<int>(n), threads.data());
    } else {
      for (ABT_thread& thread : threads)
        ABT_thread_free(&thread);
    }
  });
}
