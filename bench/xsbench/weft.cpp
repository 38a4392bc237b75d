// SPDX-License-Identifier: MIT
// xsbench with Weft: tasklets, and a pool and a scheduler of the program's own (by_key.hpp).
#include "bench/peer/weft.hpp"
#include "bench/xsbench/by_key.hpp"
#include "bench/xsbench/workload.hpp"
#include "weft/parallel.hpp"

namespace bench = weft::bench;
namespace xs = weft::bench::xsbench;

namespace {

// A creator a worker, with an equal part of the lookups. make(k, i, f): a tasklet for creator k.
template <class Make>
void create_all(xs::lookups& l, std::vector<weft::thread_attributes>& places, Make make) {
  std::vector<weft::thread> creators;
  for (std::size_t k = 0; k < places.size(); ++k)
    creators.emplace_back(places[k], [&l, &make, k, parts = places.size()] {
      std::vector<weft::tasklet> tasklets(xs::batch);
      l.in_batches(
          k, parts,
          [&](std::size_t j, std::size_t i) { tasklets[j] = make(k, i, [&l, i] { l.look_up(i); }); },
          [&](std::size_t j) { tasklets[j].join(); });
    });
  for (weft::thread& t : creators)
    t.join();
}

int run_sorted(bench::recorder& rec) {
  std::vector<std::shared_ptr<xs::keyed_pool>> pools;
  std::vector<weft::thread_attributes> places;
  for (unsigned k = 0; k < rec.opt().workers; ++k) {
    pools.push_back(std::make_shared<xs::keyed_pool>());
    places.emplace_back().pool = pools.back().get();
  }
  weft::runtime::options options;
  options.workers = rec.opt().workers;
  options.pools = weft::arrangement::custom;
  options.make_scheduler = [&pools](unsigned number) {
    return std::make_shared<xs::smallest_key_first>(pools, number);
  };
  const weft::runtime::scope runtime(options);
  return xs::run(rec, [&](xs::lookups& l) {
    create_all(l, places, [&](std::size_t k, std::size_t i, auto look_up) {
      return pools[k]->make(l.energy_of(i), look_up);
    });
  });
}

int run_unsorted(bench::recorder& rec) {
  weft::runtime::options options;
  options.workers = rec.opt().workers;
  options.pools = weft::arrangement::pool_per_worker;
  const weft::runtime::scope runtime(options);
  std::vector<weft::thread_attributes> places(rec.opt().workers);
  for (unsigned k = 0; k < rec.opt().workers; ++k)
    places[k].pool = weft::runtime::default_group().member(k).main_pool.load_acquire();
  return xs::run(rec, [&](xs::lookups& l) {
    create_all(l, places, [](std::size_t, std::size_t, auto look_up) { return weft::tasklet(look_up); });
  });
}

int run_loop(bench::recorder& rec) {
  const weft::runtime::scope runtime(bench::weft_options(rec.opt().workers, true));
  return xs::run(rec, [](xs::lookups& l) {
    weft::parallel_for(std::size_t{0}, l.count(), [&l](std::size_t i) { l.look_up(i); });
  });
}

} // namespace

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, xs::defaults(), xs::forms({"sorted", "unsorted", "loop"}));
  const std::string how = xs::how(rec);
  return how == "sorted" ? run_sorted(rec) : how == "unsorted" ? run_unsorted(rec) : run_loop(rec);
}
