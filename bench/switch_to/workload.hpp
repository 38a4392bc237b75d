// SPDX-License-Identifier: MIT
// switch_to: two threads hand the worker to each other by name, n times each. One operation is one switch.
// Each step counts if the other thread made the one before it; in the end both counts must be n.
#pragma once

#include "bench/common/bench.hpp"

namespace weft::bench::switch_to {

inline options defaults() {
  return {.n = 100000, .rounds = 5, .repeats = 5, .workers = 1, .form = {}};
}

// The two threads' progress. Not atomic: they share a worker.
struct turns {
  std::size_t count[2] = {0, 0};
  std::size_t last = 1; // who stepped last; a step out of turn does not count
  void step(std::size_t me) {
    count[me] += me ^ last;
    last = me;
  }
};

// round(turns) makes 2 n switches, calling turns.step(me) before each; thread 0 goes first.
template <class Round>
int run(recorder& rec, Round&& round) {
  const auto once = [&] {
    turns t;
    round(t);
    if (t.count[0] != rec.opt().n || t.count[1] != rec.opt().n) {
      rec.check(false, "the threads take turns, n each");
    }
  };
  once();
  rec.time_rounds(2 * rec.opt().n, once);
  return rec.finish();
}

} // namespace weft::bench::switch_to
