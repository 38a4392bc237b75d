// SPDX-License-Identifier: MIT
// streams with MassiveThreads, child-first (the paper's W) and parent-first (H). It has no way to name a
// worker: idle ones steal the roots, and may steal from a batch.
#include "bench/peer/massivethreads.hpp"

#include "bench/streams/workload.hpp"

namespace bench = weft::bench;

namespace {

template <class Body>
struct root {
  bench::streams::lanes* lanes;
  unsigned k;
  myth_thread_attr_t* attr;
  std::size_t n;
  bool yields;
  std::vector<myth_thread_t> threads; // of the batch

  static void* run(void* argument) {
    root& r = *static_cast<root*>(argument);
    r.threads.resize(r.yields ? 2 : r.n);
    r.lanes->run(r.k, [&r] { r.batch(); });
    return nullptr;
  }

  static void* empty(void*) {
    Body::run();
    return nullptr;
  }

  static void* yielder(void* argument) {
    const root& r = *static_cast<root*>(argument);
    for (std::size_t i = 0; i < r.n; ++i) {
      myth_yield();
      Body::run();
    }
    return nullptr;
  }

  void batch() {
    for (myth_thread_t& thread : threads)
      myth_create_ex(&thread, attr, yields ? yielder : empty, this);
    for (myth_thread_t thread : threads)
      myth_join(thread, nullptr);
  }
};

} // namespace

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, bench::streams::defaults(), {"thread", "parent_first", "yield"});
  const unsigned workers = rec.opt().workers;
  bench::massivethreads runtime(workers);
  myth_thread_attr_t queued = bench::parent_first();
  myth_thread_attr_t* attr = rec.form_is("parent_first") ? &queued : nullptr;
  return bench::streams::run(rec, [&](bench::streams::lanes& lanes, auto body) {
    using root_type = root<decltype(body)>;
    std::vector<root_type> roots;
    for (unsigned k = 0; k < workers; ++k)
      roots.push_back({&lanes, k, attr, rec.opt().n, bench::streams::yields(rec), {}});
    std::vector<myth_thread_t> threads(workers);
    for (unsigned k = 0; k < workers; ++k)
      myth_create_ex(&threads[k], attr, root_type::run, &roots[k]);
    for (myth_thread_t thread : threads)
      myth_join(thread, nullptr);
  });
}
