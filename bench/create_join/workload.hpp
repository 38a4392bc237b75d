// SPDX-License-Identifier: MIT
// create_join: n units with an empty body are created, then all are joined and freed. One operation is one
// unit. A first, untimed round runs a counting body: it warms the caches and proves that every unit runs
// once.
#pragma once

#include <atomic>

#include "bench/common/bench.hpp"

namespace weft::bench::create_join {

struct empty_body {
  static void run() {}
};

struct counting_body {
  static inline std::atomic<std::size_t> count{0};
  static void run() { count.fetch_add(1, std::memory_order_relaxed); }
};

inline options defaults() {
  return {.n = 4096, .rounds = 20, .repeats = 5, .workers = 1, .form = {}};
}

// round(body) creates n units that call body.run(), joins and frees them all.
template <class Round>
int run(recorder& rec, Round&& round) {
  round(counting_body{});
  rec.check(counting_body::count == rec.opt().n, "every unit runs exactly once");
  rec.time_rounds(rec.opt().n, [&] { round(empty_body{}); });
  return rec.finish();
}

} // namespace weft::bench::create_join
