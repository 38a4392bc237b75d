// SPDX-License-Identifier: MIT
// The patterns with Qthreads, joined through full/empty bits: units for a named shepherd ("to", the paper's
// fork_to with one shepherd a core), units where the library puts them ("thread"), and simple, stackless
// ones for a named shepherd ("tasklet_to").
#include "bench/peer/qthreads.hpp"

#include "bench/patterns/units.hpp"

namespace bench = weft::bench;
namespace patterns = weft::bench::patterns;

namespace {

struct library {
  struct outer {
    aligned_t result;
  };
  struct leaf {
    aligned_t result;
  };
  static constexpr bool newest_first = false;

  static aligned_t start(void* piece) {
    patterns::units<library>::call(piece);
    return 0;
  }
  template <class Piece>
  void create(outer& h, unsigned worker, Piece& p) {
    spawn(h.result, worker, &p, 0);
  }
  template <class Piece>
  void create(leaf& h, unsigned worker, Piece& p) {
    spawn(h.result, worker, &p, simple);
  }
  template <class Piece>
  void create_here(leaf& h, Piece& p) {
    spawn(h.result, qthread_shep(), &p, simple);
  }
  template <class Handle>
  void join(Handle& h) {
    qthread_readFF(nullptr, &h.result);
  }

  void spawn(aligned_t& result, unsigned worker, void* piece, unsigned flags) {
    const auto shepherd = named ? static_cast<qthread_shepherd_id_t>(worker) : NO_SHEPHERD;
    qthread_spawn(&start, piece, 0, &result, 0, nullptr, shepherd, flags);
  }

  const bool named;
  const unsigned simple;
};

} // namespace

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, patterns::defaults(), patterns::forms({"to", "thread", "tasklet_to"}));
  const patterns::form form(rec);
  bench::qthreads runtime(rec.opt().workers);
  library lib{form.has("to"), form.has("tasklet") ? unsigned{QTHREAD_SPAWN_SIMPLE} : 0U};
  return patterns::run(rec, patterns::units<library>(lib, rec.opt()));
}
