// SPDX-License-Identifier: MIT
// fmm against abt.h, for Argobots and for Weft's front of that name: a ULT a node, with stacks of 64 KiB as
// the paper has them.
#include "bench/peer/argobots.hpp"
#include "bench/fmm/workload.hpp"

namespace bench = weft::bench;
namespace fmm = weft::bench::fmm;

namespace {

const bench::argobots* runtime = nullptr;

struct ults {
  template <class F>
  struct call {
    static void run(void* self) { (*static_cast<call*>(self)->f)(static_cast<call*>(self)->i); }
    const F* f;
    unsigned i;
  };

  template <class F>
  static void for_each(unsigned count, const F& f) {
    std::array<call<F>, fmm::most_children> parts;
    std::array<ABT_thread, fmm::most_children> handles;
    const ABT_pool pool = runtime->my_pool();
    for (unsigned i = 0; i < count; ++i) {
      parts[i] = {&f, i};
      ABT_thread_create(pool, call<F>::run, &parts[i], ABT_THREAD_ATTR_NULL, &handles[i]);
    }
    for (unsigned i = 0; i < count; ++i)
      ABT_thread_free(&handles[i]);
  }
};

} // namespace

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, fmm::defaults(), fmm::forms({"ult"}));
  setenv("ABT_THREAD_STACKSIZE", "65536", 0);
  const bench::argobots scope(rec.opt().workers);
  runtime = &scope;
  return fmm::run<ults>(rec);
}
