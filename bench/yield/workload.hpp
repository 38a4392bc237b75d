// SPDX-License-Identifier: MIT
// yield: two threads on one worker yield to each other n times each. One operation is one yield.
// An untimed round counts how often the other thread ran in between ("alternation": 1 if always).
#pragma once

#include "bench/common/bench.hpp"

namespace weft::bench::yield {

struct plain {
  static void step(int) {}
};

struct counting {
  static inline int last = -1;
  static inline std::size_t steps = 0, changes = 0;
  static void step(int me) {
    ++steps;
    if (last != me)
      ++changes;
    last = me;
  }
};

inline options defaults() {
  return {.n = 100000, .rounds = 5, .repeats = 5, .workers = 1, .form = {}};
}

// What each of the two threads runs.
template <class Body, class Yield>
void loop(std::size_t n, int me, Yield&& yield) {
  for (std::size_t i = 0; i < n; ++i) {
    Body::step(me);
    yield();
  }
}

// round(body) runs loop<decltype(body)> in two threads, numbered 0 and 1, and joins both.
template <class Round>
int run(recorder& rec, Round&& round) {
  const std::size_t steps = 2 * rec.opt().n;
  round(counting{});
  rec.check(counting::steps == steps, "both threads yield n times");
  rec.extra("alternation", static_cast<double>(counting::changes) / static_cast<double>(steps));
  rec.time_rounds(steps, [&] { round(plain{}); });
  return rec.finish();
}

} // namespace weft::bench::yield
