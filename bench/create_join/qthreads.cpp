// SPDX-License-Identifier: MIT
// create_join with Qthreads: joined through a sinc (thread), through full/empty bits (feb), and simple
// (stackless) tasks through a sinc (tasklet).
#include "bench/peer/qthreads.hpp"

#include "bench/create_join/workload.hpp"

namespace bench = weft::bench;

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, bench::create_join::defaults(), {"thread", "feb", "tasklet"});
  bench::qthreads runtime(rec.opt().workers);
  const std::size_t n = rec.opt().n;
  const bool feb = rec.form_is("feb");
  const unsigned flags = QTHREAD_SPAWN_RET_SINC_VOID | (rec.form_is("tasklet") ? QTHREAD_SPAWN_SIMPLE : 0U);
  std::vector<aligned_t> results(n);
  return bench::create_join::run(rec, [&](auto body) {
    using body_type = decltype(body);
    const auto start = [](void*) -> aligned_t {
      body_type::run();
      return 0;
    };
    if (feb) {
      for (aligned_t& result : results)
        qthread_fork(start, nullptr, &result);
      for (aligned_t& result : results)
        qthread_readFF(nullptr, &result);
      return;
    }
    qt_sinc_t* sinc = qt_sinc_create(0, nullptr, nullptr, n);
    for (std::size_t i = 0; i < n; ++i) {
      qthread_spawn(start, nullptr, 0, sinc, 0, nullptr, NO_SHEPHERD, flags);
    }
    qt_sinc_wait(sinc, nullptr);
    qt_sinc_destroy(sinc);
  });
}
