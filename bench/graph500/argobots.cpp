// SPDX-License-Identifier: MIT
// graph500 against abt.h, for Argobots and for Weft's front: ULTs as the library makes them, with a pool a
// stream and a creator in each.
#include "bench/peer/argobots.hpp"
#include "bench/graph500/workload.hpp"
#include "bench/peer/abt_mutex.hpp"

namespace bench = weft::bench;
namespace graph500 = weft::bench::graph500;
using graph500::vertex;
using search = graph500::search<bench::abt_mutex>;

namespace {

struct unit {
  ABT_thread handle;
  search* of;
  vertex u, v;
};

void visit(void* argument) {
  const unit& t = *static_cast<unit*>(argument);
  t.of->visit(t.u, t.v, [] { ABT_self_yield(); });
}

struct creator {
  ABT_thread handle;
  ABT_pool pool;
  search* of = nullptr;
  std::vector<unit> units{graph500::batch};
};

void create_visits(void* argument) {
  creator& c = *static_cast<creator*>(argument);
  c.of->create_visits(
      [&c](std::size_t j, vertex u, vertex v) {
        unit& t = c.units[j];
        t.of = c.of;
        t.u = u;
        t.v = v;
        ABT_thread_create(c.pool, visit, &t, ABT_THREAD_ATTR_NULL, &t.handle);
      },
      [&c](std::size_t j) { ABT_thread_free(&c.units[j].handle); });
}

} // namespace

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, graph500::defaults(), graph500::forms({"ult"}));
  const unsigned workers = rec.opt().workers;
  using sharing = bench::argobots::sharing;
  bench::argobots runtime(workers, workers == 1 ? sharing::none : sharing::directed);
  std::vector<creator> creators;
  for (unsigned k = 0; k < workers; ++k)
    creators.push_back({nullptr, runtime.pool(k)});
  return graph500::run<bench::abt_mutex>(rec, [&creators](search& s) {
    for (creator& c : creators) {
      c.of = &s;
      ABT_thread_create(c.pool, create_visits, &c, ABT_THREAD_ATTR_NULL, &c.handle);
    }
    for (creator& c : creators)
      ABT_thread_free(&c.handle);
  });
}
