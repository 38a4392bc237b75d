// SPDX-License-Identifier: MIT
// The patterns with MassiveThreads: child-first ("work_first", its default) and parent-first ("help_first").
// A unit goes to its creator's queue, always.
#include "bench/peer/massivethreads.hpp"
#include "bench/patterns/units.hpp"

namespace bench = weft::bench;
namespace patterns = weft::bench::patterns;

namespace {

struct library {
  using outer = myth_thread_t;
  using leaf = myth_thread_t;
  static constexpr bool newest_first = false;

  static void* start(void* piece) {
    patterns::units<library>::call(piece);
    return nullptr;
  }
  template <class Piece>
  void create(myth_thread_t& h, unsigned, Piece& p) {
    create_here(h, p);
  }
  template <class Piece>
  void create_here(myth_thread_t& h, Piece& p) {
    myth_create_ex(&h, attributes, &start, &p);
  }
  void join(myth_thread_t h) { myth_join(h, nullptr); }

  myth_thread_attr_t* attributes;
};

} // namespace

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, patterns::defaults(), patterns::forms({"work_first", "help_first"}));
  bench::massivethreads runtime(rec.opt().workers);
  myth_thread_attr_t queued = bench::parent_first();
  library lib{patterns::form(rec).has("help_first") ? &queued : nullptr};
  return patterns::run(rec, patterns::units<library>(lib, rec.opt()));
}
