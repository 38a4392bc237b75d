// SPDX-License-Identifier: MIT
// tls_blocks: n threads, each with thread-local variables of its own, are created, then all are joined. One
// operation is one thread; what is measured is CPU time, of all kernel threads of the process. A first,
// untimed round proves that every thread finds its variable as it begins.
#pragma once

#include <atomic>
#include <cstddef>

#include <time.h>

#include "bench/common/bench.hpp"

namespace weft::bench::tls_blocks {

inline thread_local int begins_with_seven = 7;

struct body {
  static inline std::atomic<std::size_t> right{0};
  static void run() {
    if (begins_with_seven++ == 7)
      right.fetch_add(1, std::memory_order_relaxed);
  }
};

inline options defaults() {
  return {.n = 1000, .rounds = 100, .repeats = 7, .workers = 1, .form = {}};
}

inline double cpu_ns() {
  timespec used{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) * 1e9 + static_cast<double>(used.tv_nsec);
}

// round() creates n threads that call body::run(), and joins them all. `has_own`: a thread's variable is its
// own.
template <class Round>
void time_rounds(recorder& rec, bool has_own, Round&& round) {
  const std::size_t n = rec.opt().n, rounds = rec.opt().rounds;
  round();
  for (std::size_t repeat = 0; repeat != rec.opt().repeats; ++repeat) {
    const double begin = cpu_ns();
    for (std::size_t r = 0; r != rounds; ++r)
      round();
    rec.add_sample((cpu_ns() - begin) / static_cast<double>(n * rounds));
  }
  rec.add_ops(n * rounds * rec.opt().repeats);
  rec.check(!has_own || body::right == n * (rounds * rec.opt().repeats + 1), "variables as they begin");
}

} // namespace weft::bench::tls_blocks
