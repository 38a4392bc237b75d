// SPDX-License-Identifier: MIT
// kmeans with Weft: every technique as a type. Not RtC, since a tasklet may not yield.
#include "bench/kmeans/workload.hpp"
#include "bench/peer/weft_creators.hpp"
#include "weft/mutex.hpp"

namespace bench = weft::bench;
namespace kmeans = weft::bench::kmeans;
using work = kmeans::work<weft::mutex>;

namespace {

template <class Unit>
void add_part(work& w, std::size_t part, std::size_t parts, std::vector<Unit>& units) {
  w.in_batches(
      part, parts,
      [&](std::size_t j, std::size_t i) {
        units[j] = Unit([&w, i] { w.add(i, [] { weft::this_thread::yield(); }); });
      },
      [&](std::size_t j) { units[j].join(); });
}

} // namespace

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, kmeans::defaults(), kmeans::forms(bench::technique_names()));
  return bench::with_creators(
      rec.opt().workers, kmeans::form(rec).technique, kmeans::batch, [&rec](auto& creators) {
        return kmeans::run<weft::mutex>(rec, [&creators](work& w) {
          creators.run([&](std::size_t part, auto& units) { add_part(w, part, creators.count(), units); });
        });
      });
}
