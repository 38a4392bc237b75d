// SPDX-License-Identifier: MIT
// create_join with Argobots: ULTs and tasklets in a FIFO pool (private with one execution stream). join_many
// frees all with one call; create_many creates, joins and frees with one call each.
#include "bench/peer/argobots.hpp"

#include "bench/create_join/workload.hpp"

namespace bench = weft::bench;

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, bench::create_join::defaults(),
                      {"thread", "tasklet", "join_many", "create_many"});
  bench::argobots runtime(rec.opt().workers);
  const std::size_t n = rec.opt().n;
  const int count = static_cast<int>(n);
  std::vector<ABT_thread> threads(n);
  const bool tasklet = rec.form_is("tasklet"), many = rec.form_is("join_many");
  std::vector<ABT_pool> pools(n);
  for (std::size_t i = 0; i < n; ++i)
    pools[i] = runtime.pool(i);
  std::vector<void (*)(void*)> starts(n);
  return bench::create_join::run(rec, [&](auto body) {
    using body_type = decltype(body);
    const auto start = [](void*) { body_type::run(); };
    if (rec.form_is("create_many")) {
      starts.assign(n, start);
      ABT_thread_create_many(count, pools.data(), starts.data(), nullptr, ABT_THREAD_ATTR_NULL,
                             threads.data());
      ABT_thread_join_many(count, threads.data());
      ABT_thread_free_many(count, threads.data());
      return;
    }
    for (std::size_t i = 0; i < n; ++i) {
      if (tasklet) {
        ABT_task_create(pools[i], start, nullptr, &threads[i]);
      } else {
        ABT_thread_create(pools[i], start, nullptr, ABT_THREAD_ATTR_NULL, &threads[i]);
      }
    }
    if (many) {
      ABT_thread_free_many(count, threads.data());
    } else {
      for (ABT_thread& thread : threads)
        ABT_thread_free(&thread);
    }
  });
}
