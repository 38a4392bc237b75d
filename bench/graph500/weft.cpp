// SPDX-License-Identifier: MIT
// graph500 with Weft: every technique as a type, with creators and pools as in kmeans. Not RtC, since a
// tasklet may not yield.
#include "bench/peer/weft.hpp"
#include "bench/graph500/workload.hpp"
#include "bench/peer/weft_techniques.hpp"
#include "weft/mutex.hpp"

namespace bench = weft::bench;
namespace graph500 = weft::bench::graph500;
using graph500::vertex;
using weft::technique_id;
using search = graph500::search<weft::mutex>;

namespace {

template <class Unit>
class creators {
 public:
  explicit creators(unsigned workers) : places_(workers), creators_(workers), units_(workers) {
    const weft::worker_group& group = weft::runtime::default_group();
    for (unsigned k = 0; k < workers; ++k) {
      if (group.pools() == weft::arrangement::pool_per_worker)
        places_[k].pool = group.member(k).main_pool.load_acquire();
      units_[k].resize(graph500::batch);
    }
  }

  void operator()(search& s) {
    for (std::size_t k = 0; k < creators_.size(); ++k)
      creators_[k] = weft::thread(places_[k], [this, &s, k] { create_visits(s, units_[k]); });
    for (weft::thread& t : creators_)
      t.join();
  }

 private:
  static void create_visits(search& s, std::vector<Unit>& units) {
    s.create_visits(
        [&](std::size_t j, vertex u, vertex v) {
          units[j] = Unit([&s, u, v] { s.visit(u, v, [] { weft::this_thread::yield(); }); });
        },
        [&](std::size_t j) { units[j].join(); });
  }

  std::vector<weft::thread_attributes> places_; // of the creators
  std::vector<weft::thread> creators_;
  std::vector<std::vector<Unit>> units_; // of each creator, a batch
};

template <technique_id T>
int run(bench::recorder& rec) {
  weft::runtime::options options = bench::weft_options(rec.opt().workers);
  if (!weft::unit::is_child_first(T))
    options.pools = weft::arrangement::pool_per_worker;
  const weft::runtime::scope runtime(options);
  return graph500::run<weft::mutex>(rec, creators<weft::thread_of<T>>(rec.opt().workers));
}

} // namespace

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, graph500::defaults(), graph500::forms(bench::technique_names()));
  return bench::with_technique(graph500::form(rec).technique, [&]<technique_id T>() { return run<T>(rec); });
}
