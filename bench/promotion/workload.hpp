// SPDX-License-Identifier: MIT
// promotion: how one who calls a thread learns that it deviated on the way, by itself: n calls of an empty
// function, after each of which the caller asks. "flag": the function sets a byte if it deviates, the caller
// tests it. "patch": it overwrites its return address, as "Analyzing the Performance Trade-Off in
// Implementing User-Level Threads" does it (its Fig. 11), and returns elsewhere. A form is <how>.<D>: all
// functions deviate or none. An operation is one call.
#pragma once

#include "bench/common/bench.hpp"

namespace weft::bench::promotion {

inline options defaults() {
  return {.n = 100'000, .rounds = 20, .repeats = 5, .workers = 1, .form = {}};
}

// call(): true if the function deviated.
template <class Call>
int run(recorder& rec, bool deviates, Call&& call) {
  const auto count = [&] {
    std::size_t promoted = 0;
    for (std::size_t i = 0; i < rec.opt().n; ++i)
      promoted += call() ? 1 : 0;
    return promoted;
  };
  const std::size_t expected = deviates ? rec.opt().n : 0;
  rec.check(count() == expected, "each call says whether its function deviated");
  std::size_t seen = 0;
  rec.time_rounds(rec.opt().n, [&] { seen = count(); });
  rec.check(seen == expected, "each timed call says so");
  return rec.finish();
}

} // namespace weft::bench::promotion
