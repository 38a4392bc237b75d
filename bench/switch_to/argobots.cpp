// SPDX-License-Identifier: MIT
// switch_to with Argobots: yield_to (ABT_thread_yield_to, which takes the ready target out of its pool; with
// ABT_self_yield_to the caller must have done so) and suspend_to (the caller suspends, the target resumes).
#include "bench/peer/argobots.hpp"

#include "bench/switch_to/workload.hpp"

namespace bench = weft::bench;
using bench::switch_to::turns;

namespace {

struct pair {
  turns* t;
  std::size_t n;
  ABT_thread threads[2];
};

template <int Me>
void yield_to(void* argument) {
  pair& p = *static_cast<pair*>(argument);
  for (std::size_t i = 0; i < p.n; ++i) {
    p.t->step(Me);
    ABT_thread_yield_to(p.threads[1 - Me]);
  }
}

template <int Me>
void suspend_to(void* argument) {
  pair& p = *static_cast<pair*>(argument);
  if (Me == 1)
    ABT_self_suspend(); // it was queued first, so thread 0 finds it suspended
  for (std::size_t i = 0; i < p.n; ++i) {
    p.t->step(Me);
    ABT_self_resume_suspend_to(p.threads[1 - Me]);
  }
  if (Me == 0)
    ABT_thread_resume(p.threads[1]);
}

} // namespace

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, bench::switch_to::defaults(), {"yield_to", "suspend_to"});
  bench::argobots runtime(1);
  const ABT_pool pool = runtime.pool(0);
  const bool yields = rec.form_is("yield_to");
  return bench::switch_to::run(rec, [&](turns& t) {
    pair p{&t, rec.opt().n, {}};
    if (yields) {
      ABT_thread_create(pool, yield_to<0>, &p, ABT_THREAD_ATTR_NULL, &p.threads[0]);
      ABT_thread_create(pool, yield_to<1>, &p, ABT_THREAD_ATTR_NULL, &p.threads[1]);
    } else {
      ABT_thread_create(pool, suspend_to<1>, &p, ABT_THREAD_ATTR_NULL, &p.threads[1]);
      ABT_thread_create(pool, suspend_to<0>, &p, ABT_THREAD_ATTR_NULL, &p.threads[0]);
    }
    for (ABT_thread thread : p.threads)
      ABT_thread_join(thread);
    for (ABT_thread& thread : p.threads)
      ABT_thread_free(&thread);
  });
}
