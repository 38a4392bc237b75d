// SPDX-License-Identifier: MIT
// kmeans against abt.h, for Argobots and for Weft's front: ULTs as the library makes them, with a pool a
// stream and a creator in each.
#include "bench/peer/argobots.hpp"
#include "bench/kmeans/workload.hpp"
#include "bench/peer/abt_mutex.hpp"

namespace bench = weft::bench;
namespace kmeans = weft::bench::kmeans;

namespace {

using work = kmeans::work<bench::abt_mutex>;

struct unit {
  ABT_thread handle;
  work* data;
  std::size_t i;
};

void add(void* argument) {
  auto& u = *static_cast<unit*>(argument);
  u.data->add(u.i, [] { ABT_self_yield(); });
}

// Adds a part of the points.
struct creator {
  ABT_thread handle;
  ABT_pool pool;
  std::size_t part, parts;
  work* data = nullptr;
  std::vector<unit> units{kmeans::batch};
};

void add_part(void* argument) {
  auto& c = *static_cast<creator*>(argument);
  c.data->in_batches(
      c.part, c.parts,
      [&c](std::size_t j, std::size_t i) {
        unit& u = c.units[j];
        u.data = c.data;
        u.i = i;
        ABT_thread_create(c.pool, add, &u, ABT_THREAD_ATTR_NULL, &u.handle);
      },
      [&c](std::size_t j) { ABT_thread_free(&c.units[j].handle); });
}

} // namespace

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, kmeans::defaults(), kmeans::forms({"ult"}));
  const unsigned workers = rec.opt().workers;
  using sharing = bench::argobots::sharing;
  bench::argobots runtime(workers, workers == 1 ? sharing::none : sharing::directed);
  std::vector<creator> creators;
  for (unsigned k = 0; k < workers; ++k)
    creators.push_back({nullptr, runtime.pool(k), k, workers});
  return kmeans::run<bench::abt_mutex>(rec, [&creators](work& w) {
    for (creator& c : creators) {
      c.data = &w;
      ABT_thread_create(c.pool, add_part, &c, ABT_THREAD_ATTR_NULL, &c.handle);
    }
    for (creator& c : creators)
      ABT_thread_free(&c.handle);
  });
}
