// SPDX-License-Identifier: MIT
// wakeup with Qthreads: a thread forked to an idle shepherd.
#include "bench/peer/qthreads.hpp"

#include "bench/wakeup/workload.hpp"

namespace bench = weft::bench;

namespace {

aligned_t start(void*) {
  bench::wakeup::arrival::mark();
  return 0;
}

} // namespace

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, bench::wakeup::defaults(), {"push"});
  bench::qthreads runtime(2);
  aligned_t result = 0;
  return bench::wakeup::run(rec, [&] {
    const qthread_shepherd_id_t other = qthread_shep() == 0 ? 1 : 0;
    return bench::wakeup::latency([&] { qthread_fork_to(start, nullptr, &result, other); },
                                  [&] { qthread_readFF(nullptr, &result); });
  });
}
