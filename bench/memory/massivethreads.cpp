// SPDX-License-Identifier: MIT
// memory with MassiveThreads; threads wait for a mutex. "created" is parent-first: child-first starts at
// once.
#include "bench/peer/massivethreads.hpp"

#include "bench/memory/workload.hpp"

namespace bench = weft::bench;
using bench::memory::progress;

namespace {

void* wait(void* argument) {
  auto* gate = static_cast<myth_mutex_t*>(argument);
  progress::mark();
  myth_mutex_lock(gate);
  myth_mutex_unlock(gate);
  return nullptr;
}

} // namespace

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, bench::memory::defaults(), {"created", "blocked"});
  const bool blocked = rec.form_is("blocked");
  bench::massivethreads runtime(1);
  myth_thread_attr_t queued = bench::parent_first();
  myth_thread_attr_t* attr = blocked ? nullptr : &queued;
  auto threads = bench::memory::resident<myth_thread_t>(rec.opt().n);
  myth_mutex_t gate;
  myth_mutex_init(&gate, nullptr);
  return bench::memory::run(
      rec,
      [&] {
        if (blocked)
          myth_mutex_lock(&gate);
        for (myth_thread_t& thread : threads)
          myth_create_ex(&thread, attr, wait, &gate);
        while (blocked && progress::started < rec.opt().n)
          myth_yield();
      },
      [&] {
        if (blocked)
          myth_mutex_unlock(&gate);
        for (myth_thread_t thread : threads)
          myth_join(thread, nullptr);
      });
}
