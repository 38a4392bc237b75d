// SPDX-License-Identifier: MIT
// memory with Argobots; threads wait on one eventual.
#include "bench/peer/argobots.hpp"

#include "bench/memory/workload.hpp"

namespace bench = weft::bench;
using bench::memory::progress;

namespace {

void wait(void* gate) {
  progress::mark();
  ABT_eventual_wait(static_cast<ABT_eventual>(gate), nullptr);
}

void pass(void*) {
  progress::mark();
}

} // namespace

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, bench::memory::defaults(), {"created", "blocked", "tasklet_created"});
  bench::argobots runtime(1);
  auto threads = bench::memory::resident<ABT_thread>(rec.opt().n);
  ABT_eventual gate;
  ABT_eventual_create(0, &gate);
  const auto reach = [&] {
    for (ABT_thread& thread : threads) {
      if (rec.form_is("tasklet_created")) {
        ABT_task_create(runtime.pool(0), pass, nullptr, &thread);
      } else {
        ABT_thread_create(runtime.pool(0), wait, gate, ABT_THREAD_ATTR_NULL, &thread);
      }
    }
    while (rec.form_is("blocked") && progress::started < rec.opt().n)
      ABT_self_yield();
  };
  const auto leave = [&] {
    ABT_eventual_set(gate, nullptr, 0);
    for (ABT_thread& thread : threads)
      ABT_thread_free(&thread);
  };
  const int result = bench::memory::run(rec, reach, leave);
  ABT_eventual_free(&gate);
  return result;
}
