// SPDX-License-Identifier: MIT
// switch_to with Argobots: yield_to (ABT_thread_yield_to, which takes the ready target out of its pool),
// self_yield_to (ABT_self_yield_to, whose caller must have done so) and suspend_to (the caller suspends, the
// target resumes).
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
  if (Me == 1) {
    ABT_self_suspend();
  } else {
    ABT_self_yield(); // a join may have run it first: now thread 1 is suspended
  }
  for (std::size_t i = 0; i < p.n; ++i) {
    p.t->step(Me);
    ABT_self_resume_suspend_to(p.threads[1 - Me]);
  }
  if (Me == 0)
    ABT_thread_resume(p.threads[1]);
}

// The threads of a ring yield each to the next. Who finds that its successor is in the pool takes all the
// others out of it at once, so that the cost of it is spread over a lap. --n must be a multiple of half the
// ring.
constexpr std::size_t ring_size = 32;

struct ring {
  turns* t;
  std::size_t laps;
  ABT_pool pool;
  ABT_thread threads[ring_size];
  std::size_t popped; // so many successors of the one that runs are out of the pool

  void pop_others() {
    ABT_thread others[ring_size];
    ABT_pool_pop_threads(pool, others, ring_size, &popped);
  }
};

struct member {
  ring* r;
  std::size_t me;
};

void ring_yield_to(void* argument) {
  const member m = *static_cast<member*>(argument);
  ring& r = *m.r;
  const bool last = m.me == ring_size - 1;
  const ABT_thread next = r.threads[last ? 0 : m.me + 1];
  for (std::size_t lap = 0; lap < r.laps; ++lap) {
    r.t->step(m.me % 2);
    if (last && lap + 1 == r.laps)
      break;
    if (r.popped == 0)
      r.pop_others();
    --r.popped;
    ABT_self_yield_to(next);
  }
  if (last) {
    for (std::size_t i = 0; i < r.popped; ++i)
      ABT_pool_push_thread(r.pool, r.threads[i]);
  }
}

void ring_round(ABT_pool pool, turns& t, std::size_t n) {
  ring r{&t, 2 * n / ring_size, pool, {}, 0};
  member members[ring_size];
  for (std::size_t i = 0; i < ring_size; ++i) {
    members[i] = {&r, i};
    ABT_thread_create(pool, ring_yield_to, &members[i], ABT_THREAD_ATTR_NULL, &r.threads[i]);
  }
  for (ABT_thread thread : r.threads)
    ABT_thread_join(thread);
  for (ABT_thread& thread : r.threads)
    ABT_thread_free(&thread);
}

} // namespace

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, bench::switch_to::defaults(), {"yield_to", "self_yield_to", "suspend_to"});
  bench::argobots runtime(1);
  const ABT_pool pool = runtime.pool(0);
  const bool yields = rec.form_is("yield_to");
  return bench::switch_to::run(rec, [&](turns& t) {
    if (rec.form_is("self_yield_to"))
      return ring_round(pool, t, rec.opt().n);
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
