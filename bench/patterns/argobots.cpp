// SPDX-License-Identifier: MIT
// The patterns against abt.h, for Argobots and for Weft's front of that name: ULTs and tasklets (outer units
// are ULTs), with a pool an execution stream, units given out in turn ("private"), with one pool for all
// ("shared"), and with a pool each whose stream sleeps while it is empty ("wait").
#include <cstdlib>

#include "bench/patterns/units.hpp"
#include "bench/peer/argobots.hpp"

namespace bench = weft::bench;
namespace patterns = weft::bench::patterns;

namespace {

struct library {
  struct outer {
    ABT_thread handle;
  };
  struct leaf {
    ABT_thread handle;
  };
  static constexpr bool newest_first = false;

  template <class Piece>
  void create(outer& h, unsigned worker, Piece& p) {
    ABT_thread_create(runtime.pool(worker), patterns::units<library>::call, &p, ABT_THREAD_ATTR_NULL,
                      &h.handle);
  }
  template <class Piece>
  void create(leaf& h, unsigned worker, Piece& p) {
    create_in(runtime.pool(worker), h, p);
  }
  template <class Piece>
  void create_here(leaf& h, Piece& p) {
    create_in(runtime.my_pool(), h, p);
  }
  template <class Handle>
  void join(Handle& h) {
    ABT_thread_free(&h.handle);
  }

  template <class Piece>
  void create_in(ABT_pool pool, leaf& h, Piece& p) {
    if (tasklets) {
      ABT_task_create(pool, patterns::units<library>::call, &p, &h.handle);
    } else {
      ABT_thread_create(pool, patterns::units<library>::call, &p, ABT_THREAD_ATTR_NULL, &h.handle);
    }
  }

  bench::argobots& runtime;
  const bool tasklets;
};

} // namespace

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, patterns::defaults(),
                      patterns::forms({"thread_private", "thread_shared", "thread_wait", "tasklet_private",
                                       "tasklet_shared", "tasklet_wait"}));
  const patterns::form form(rec);
  using sharing = bench::argobots::sharing;
  const auto how = form.has("shared")       ? sharing::one_pool
                   : form.has("wait")       ? sharing::directed_waiting
                   : rec.opt().workers == 1 ? sharing::none
                                            : sharing::directed;
  bench::argobots runtime(rec.opt().workers, how);
  library lib{runtime, form.has("tasklet")};
  const int code = patterns::run(rec, patterns::units<library>(lib, rec.opt()));
  std::_Exit(code); // to stop many streams that spin takes seconds
}
