// SPDX-License-Identifier: MIT
// graph500 with Weft: every technique as a type, with creators and pools as in kmeans. Not RtC, since a
// tasklet may not yield.
#include "bench/graph500/workload.hpp"
#include "bench/peer/weft_creators.hpp"
#include "weft/mutex.hpp"

namespace bench = weft::bench;
namespace graph500 = weft::bench::graph500;
using graph500::vertex;
using search = graph500::search<weft::mutex>;

namespace {

template <class Unit>
void create_visits(search& s, std::vector<Unit>& units) {
  s.create_visits(
      [&](std::size_t j, vertex u, vertex v) {
        units[j] = Unit([&s, u, v] { s.visit(u, v, [] { weft::this_thread::yield(); }); });
      },
      [&](std::size_t j) { units[j].join(); });
}

} // namespace

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, graph500::defaults(), graph500::forms(bench::technique_names()));
  const graph500::form form(rec.opt().form);
  return bench::with_creators(rec.opt().workers, form.technique, graph500::batch, [&rec](auto& creators) {
    return graph500::run<weft::mutex>(rec, [&creators](search& s) {
      creators.run([&s](std::size_t, auto& units) { create_visits(s, units); });
    });
  });
}
