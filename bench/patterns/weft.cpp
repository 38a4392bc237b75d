// SPDX-License-Identifier: MIT
// The patterns with Weft: threads and tasklets with a private pool a worker, one shared pool, or work
// stealing; forks; parallel_for. What is joined last was created first where a worker takes its youngest unit
// first.
#include "bench/patterns/units.hpp"

#include <optional>

#include "weft/fork_join.hpp"
#include "weft/parallel.hpp"
#include "weft/pool.hpp"
#include "weft/runtime.hpp"
#include "weft/thread.hpp"

namespace bench = weft::bench;
namespace patterns = weft::bench::patterns;

namespace {

template <class Leaf>
struct library {
  using outer = weft::thread;
  using leaf = Leaf;

  // Without private pools the creator's own is the one for all.
  library(unsigned workers, weft::arrangement pools) : newest_first(pools == weft::arrangement::stealing) {
    if (pools != weft::arrangement::pool_per_worker)
      return;
    places.resize(workers);
    for (unsigned k = 0; k < workers; ++k)
      places[k].pool = weft::runtime::default_group().member(k).main_pool.load_acquire();
  }

  template <class Handle, class Piece>
  void create(Handle& h, unsigned worker, Piece& p) {
    if (worker == 0 || places.empty()) {
      create_here(h, p);
    } else {
      h = Handle(places[worker], [&p] { p.run(p); });
    }
  }
  template <class Handle, class Piece>
  void create_here(Handle& h, Piece& p) {
    h = Handle([&p] { p.run(p); });
  }
  template <class Handle>
  void join(Handle& h) {
    h.join();
  }

  std::vector<weft::thread_attributes> places;
  const bool newest_first;
};

// A forked call lives where it was made: in the batch.
struct forks {
  struct call {
    void (*run)(void*);
    void* piece;
    void operator()() const { run(piece); }
  };
  using outer = std::optional<weft::forked<call>>;
  using leaf = outer;
  static constexpr bool newest_first = true;

  template <class Piece>
  void create(leaf& h, unsigned, Piece& p) {
    create_here(h, p);
  }
  template <class Piece>
  void create_here(leaf& h, Piece& p) {
    h.emplace(call{patterns::units<forks>::call, &p});
  }
  void join(leaf& h) {
    h->join();
    h.reset();
  }
};

// Halving all the way; a part a worker, as elsewhere.
struct loops : patterns::units<forks> {
  using units::units;

  static void part_by_part(const patterns::work& w, std::size_t base, auto&& body) {
    weft::parallel_for(
        0U, w.workers, [&](unsigned k) { body(base + w.begin_of(k), base + w.begin_of(k + 1)); }, 1U);
  }
  void for_loop(patterns::work& w) {
    part_by_part(w, 0, [&](std::size_t first, std::size_t last) { w.scale(first, last); });
  }
  void nested(patterns::work& w) {
    part_by_part(w, 0, [&](std::size_t first, std::size_t last) {
      for (std::size_t row = first; row < last; ++row)
        part_by_part(w, row * w.n, [&](std::size_t from, std::size_t to) { w.scale(from, to); });
    });
  }
};

template <class Library>
int run(bench::recorder& rec, Library lib) {
  return patterns::run(rec, patterns::units<Library>(lib, rec.opt()));
}

} // namespace

int main(int argc, char** argv) {
  auto forms = patterns::forms({"thread_private", "thread_shared", "thread_stealing", "tasklet_private",
                                "tasklet_shared", "tasklet_stealing", "fork"});
  forms.insert(forms.end(), {"for_loop.parallel_for", "nested.parallel_for"});
  bench::recorder rec(argc, argv, patterns::defaults(), forms);
  const patterns::form form(rec);
  weft::runtime::options options;
  options.workers = rec.opt().workers;
  options.pools = form.has("private")  ? weft::arrangement::pool_per_worker
                  : form.has("shared") ? weft::arrangement::one_pool
                                       : weft::arrangement::stealing;
  const weft::runtime::scope runtime(options);
  forks lib;
  if (form.has("parallel_for"))
    return patterns::run(rec, loops(lib, rec.opt()));
  if (form.has("fork"))
    return run(rec, lib);
  if (form.has("tasklet"))
    return run(rec, library<weft::tasklet>(rec.opt().workers, options.pools));
  return run(rec, library<weft::thread>(rec.opt().workers, options.pools));
}
