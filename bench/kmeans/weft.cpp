// SPDX-License-Identifier: MIT
// kmeans with Weft: every technique as a type. Not RtC, since a tasklet may not yield. A creator a worker, as
// in the paper: parent first with a private pool each, so that threads stay with their creator's worker;
// child first with work stealing, since there it is the creators that must move.
#include "bench/peer/weft.hpp"
#include "bench/kmeans/workload.hpp"
#include "bench/peer/weft_techniques.hpp"
#include "weft/mutex.hpp"

namespace bench = weft::bench;
namespace kmeans = weft::bench::kmeans;
using weft::technique_id;
using work = kmeans::work<weft::mutex>;

namespace {

template <class Unit>
class creators {
 public:
  explicit creators(unsigned workers) : places_(workers), creators_(workers), units_(workers) {
    const weft::worker_group& group = weft::runtime::default_group();
    for (unsigned k = 0; k < workers; ++k) {
      if (group.pools() == weft::arrangement::pool_per_worker)
        places_[k].pool = group.member(k).main_pool.load_acquire();
      units_[k].resize(kmeans::batch);
    }
  }

  void operator()(work& w) {
    for (std::size_t k = 0; k < creators_.size(); ++k)
      creators_[k] = weft::thread(places_[k], [this, &w, k] { add_part(w, k); });
    for (weft::thread& t : creators_)
      t.join();
  }

 private:
  void add_part(work& w, std::size_t part) {
    std::vector<Unit>& units = units_[part];
    w.in_batches(
        part, creators_.size(),
        [&](std::size_t j, std::size_t i) {
          units[j] = Unit([&w, i] { w.add(i, [] { weft::this_thread::yield(); }); });
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
  return kmeans::run<weft::mutex>(rec, creators<weft::thread_of<T>>(rec.opt().workers));
}

} // namespace

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, kmeans::defaults(), kmeans::forms(bench::technique_names()));
  return bench::with_technique(kmeans::form(rec).technique, [&]<technique_id T>() { return run<T>(rec); });
}
