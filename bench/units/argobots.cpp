// SPDX-License-Identifier: MIT
// units with Argobots, on one stream: in a private FIFO pool, or in the pool that the form names.
#include "bench/peer/argobots.hpp"

#include "bench/units/workload.hpp"

namespace bench = weft::bench;
namespace units = weft::bench::units;

namespace {

using function = void (*)(void*);

void create_to(ABT_pool pool, std::size_t n, function f) {
  for (std::size_t i = 0; i < n; ++i) {
    ABT_thread t;
    ABT_thread_create_to(pool, f, nullptr, ABT_THREAD_ATTR_NULL, &t);
    ABT_thread_free(&t);
  }
}

template <bool Tasklet>
void unnamed(ABT_pool pool, std::size_t n, function f) {
  for (std::size_t i = 0; i < n; i += units::between_yields) {
    for (std::size_t k = 0; k < units::between_yields; ++k) {
      if (Tasklet)
        ABT_task_create(pool, f, nullptr, nullptr);
      else
        ABT_thread_create(pool, f, nullptr, ABT_THREAD_ATTR_NULL, nullptr);
    }
    ABT_thread_yield();
  }
}

template <bool Tasklet>
void revive(ABT_pool pool, std::size_t n, function f) {
  ABT_thread t;
  if (Tasklet)
    ABT_task_create(pool, units::nothing, nullptr, &t);
  else
    ABT_thread_create(pool, units::nothing, nullptr, ABT_THREAD_ATTR_NULL, &t);
  ABT_thread_join(t);
  for (std::size_t i = 0; i < n; ++i) {
    if (Tasklet)
      ABT_task_revive(pool, f, nullptr, &t);
    else
      ABT_thread_revive(pool, f, nullptr, &t);
    ABT_thread_join(t);
  }
  ABT_thread_free(&t);
}

template <bool Tasklet>
void create(ABT_pool pool, std::size_t n, function f) {
  for (std::size_t i = 0; i < n; ++i) {
    ABT_thread t;
    if (Tasklet)
      ABT_task_create(pool, f, nullptr, &t);
    else
      ABT_thread_create(pool, f, nullptr, ABT_THREAD_ATTR_NULL, &t);
    ABT_thread_free(&t);
  }
}

using round = void (*)(ABT_pool, std::size_t, function);

round round_of(const std::string& form) {
  const bool tasklet = form.ends_with("_tasklet");
  if (form == "create_to")
    return &create_to;
  if (form.starts_with("unnamed"))
    return tasklet ? &unnamed<true> : &unnamed<false>;
  if (form.starts_with("revive"))
    return tasklet ? &revive<true> : &revive<false>;
  return tasklet ? &create<true> : &create<false>;
}

// Of the pool that the primary stream has from now on.
ABT_pool pool_for(const std::string& form, bench::argobots& runtime) {
  if (!form.starts_with("fifo") && !form.starts_with("randws"))
    return runtime.pool(0);
  ABT_pool pool;
  ABT_xstream self;
  ABT_pool_create_basic(form.starts_with("fifo") ? ABT_POOL_FIFO : ABT_POOL_RANDWS, ABT_POOL_ACCESS_MPMC,
                        ABT_TRUE, &pool);
  ABT_xstream_self(&self);
  ABT_xstream_set_main_sched_basic(self, ABT_SCHED_BASIC, 1, &pool);
  return pool;
}

} // namespace

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, units::defaults(), units::forms());
  bench::argobots runtime(1);
  const std::size_t n = rec.opt().n;
  const ABT_pool pool = pool_for(rec.opt().form, runtime);
  const round run = round_of(rec.opt().form);
  run(pool, n, &units::count);
  rec.check(units::counted == n, "every unit runs exactly once");
  rec.time_rounds(n, [&] { run(pool, n, &units::nothing); });
  return rec.finish();
}
