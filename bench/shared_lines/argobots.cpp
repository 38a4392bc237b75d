// SPDX-License-Identifier: MIT
// shared_lines with Argobots: two secondary streams, each with one FIFO pool that is private to it. control:
// the units also write to a line that both streams have in common, so the count must not be zero.
#include "bench/peer/argobots.hpp"

#include <algorithm>

#include "bench/shared_lines/workload.hpp"

namespace bench = weft::bench;
using bench::shared_lines::lane;
using bench::shared_lines::turns;

namespace {

alignas(128) std::size_t common_counter;

enum class form { thread, tasklet, control };

struct alignas(128) root {
  turns* all;
  lane* own;
  unsigned k;
  form what;
  std::size_t n;
  ABT_pool pool;
  std::vector<ABT_thread> threads;

  static void run(void* argument) {
    root& r = *static_cast<root*>(argument);
    r.threads.resize(r.n); // here: from this kernel thread's part of the heap
    r.all->serve(r.k, [&r] { r.round(); });
    r.threads = {};
  }

  template <form What>
  static void unit(void* argument) {
    if (What != form::tasklet)
      ABT_self_yield();
    if (What == form::control)
      ++common_counter;
    ++static_cast<lane*>(argument)->ran;
  }

  void round() {
    for (ABT_thread& thread : threads) {
      if (what == form::tasklet) {
        ABT_task_create(pool, unit<form::tasklet>, own, &thread);
      } else {
        const auto start = what == form::control ? unit<form::control> : unit<form::thread>;
        ABT_thread_create(pool, start, own, ABT_THREAD_ATTR_NULL, &thread);
      }
    }
    for (ABT_thread& thread : threads) {
      ABT_thread_join(thread);
      ABT_thread_free(&thread);
    }
  }
};

} // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> forms{"thread", "tasklet", "control"};
  bench::recorder rec(argc, argv, bench::shared_lines::defaults(), forms);
  const auto what = static_cast<form>(std::find(forms.begin(), forms.end(), rec.opt().form) - forms.begin());
  bench::argobots runtime(1);
  return bench::shared_lines::run(rec, [&](turns& all, lane* lanes) {
    constexpr unsigned streams = bench::shared_lines::streams;
    ABT_xstream xstreams[streams];
    ABT_thread threads[streams];
    std::vector<root> roots;
    for (unsigned k = 0; k < streams; ++k)
      roots.push_back({&all, &lanes[k], k, what, rec.opt().n, ABT_POOL_NULL, {}});
    for (root& r : roots) {
      ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_PRIV, ABT_TRUE, &r.pool);
      // Before the stream is there: later, nobody else may push to it.
      ABT_thread_create(r.pool, root::run, &r, ABT_THREAD_ATTR_NULL, &threads[r.k]);
      ABT_xstream_create_basic(ABT_SCHED_BASIC, 1, &r.pool, ABT_SCHED_CONFIG_NULL, &xstreams[r.k]);
    }
    all.run_all();
    for (unsigned k = 0; k < streams; ++k) {
      ABT_xstream_join(xstreams[k]);
      ABT_thread_free(&threads[k]);
      ABT_xstream_free(&xstreams[k]);
    }
  });
}
