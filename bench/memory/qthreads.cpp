// SPDX-License-Identifier: MIT
// memory with Qthreads; threads wait for one word to become full.
#include "bench/peer/qthreads.hpp"

#include "bench/memory/workload.hpp"

namespace bench = weft::bench;
using bench::memory::progress;

namespace {

aligned_t gate = 0;

aligned_t wait(void*) {
  progress::mark();
  qthread_readFF(nullptr, &gate);
  return 0;
}

} // namespace

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, bench::memory::defaults(), {"created", "blocked"});
  const bool blocked = rec.form_is("blocked");
  bench::qthreads runtime(1);
  const std::size_t n = rec.opt().n;
  qt_sinc_t* sinc = qt_sinc_create(0, nullptr, nullptr, n);
  qthread_empty(&gate);
  return bench::memory::run(
      rec,
      [&] {
        for (std::size_t i = 0; i < n; ++i) {
          qthread_spawn(wait, nullptr, 0, sinc, 0, nullptr, NO_SHEPHERD, QTHREAD_SPAWN_RET_SINC_VOID);
        }
        while (blocked && progress::started < n)
          qthread_yield();
      },
      [&] {
        qthread_fill(&gate);
        qt_sinc_wait(sinc, nullptr);
        qt_sinc_destroy(sinc);
      });
}
