// SPDX-License-Identifier: MIT
// streams with Qthreads: a root on each shepherd, whose batches stay there; joined through a sinc.
#include "bench/peer/qthreads.hpp"

#include "bench/streams/workload.hpp"

namespace bench = weft::bench;

namespace {

template <class Body>
struct root {
  bench::streams::lanes* lanes;
  unsigned k;
  bool yields;
  unsigned flags;
  std::size_t n;
  aligned_t done;

  static aligned_t run(void* argument) {
    root& r = *static_cast<root*>(argument);
    r.lanes->run(r.k, [&r] { r.batch(r.yields ? 2 : r.n, r.yields ? yielder : empty); });
    return 0;
  }

  static aligned_t empty(void*) {
    Body::run();
    return 0;
  }

  static aligned_t yielder(void* argument) {
    const root& r = *static_cast<root*>(argument);
    for (std::size_t i = 0; i < r.n; ++i) {
      qthread_yield();
      Body::run();
    }
    return 0;
  }

  void batch(std::size_t units, qthread_f start) {
    qt_sinc_t* sinc = qt_sinc_create(0, nullptr, nullptr, units);
    for (std::size_t i = 0; i < units; ++i)
      qthread_spawn(start, this, 0, sinc, 0, nullptr, static_cast<qthread_shepherd_id_t>(k), flags);
    qt_sinc_wait(sinc, nullptr);
    qt_sinc_destroy(sinc);
  }
};

} // namespace

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, bench::streams::defaults(), {"thread", "tasklet", "yield"});
  const unsigned workers = rec.opt().workers;
  const unsigned flags = QTHREAD_SPAWN_RET_SINC_VOID | (rec.form_is("tasklet") ? QTHREAD_SPAWN_SIMPLE : 0U);
  bench::qthreads runtime(workers);
  return bench::streams::run(rec, [&](bench::streams::lanes& lanes, auto body) {
    using root_type = root<decltype(body)>;
    std::vector<root_type> roots;
    for (unsigned k = 0; k < workers; ++k)
      roots.push_back({&lanes, k, bench::streams::yields(rec), flags, rec.opt().n, 0});
    for (root_type& r : roots)
      qthread_fork_to(root_type::run, &r, &r.done, static_cast<qthread_shepherd_id_t>(r.k));
    for (root_type& r : roots)
      qthread_readFF(nullptr, &r.done);
  });
}
