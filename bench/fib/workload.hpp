// SPDX-License-Identifier: MIT
// fib: the n-th Fibonacci number by recursion without a cut-off; a node spawns one child, calls the other
// inline, and joins. One operation is one spawn.
#pragma once

#include <algorithm>

#include "bench/common/bench.hpp"

namespace weft::bench::fib {

using number = std::uint64_t;

inline options defaults() {
  return {.n = 35, .rounds = 1, .repeats = 3, .workers = 1, .form = {}};
}

inline number answer(std::size_t n) {
  number a = 0, b = 1;
  for (std::size_t i = 0; i < n; ++i)
    a = std::exchange(b, a + b);
  return a;
}

// Nodes with children: s(n) = 1 + s(n-1) + s(n-2).
inline std::size_t spawns(std::size_t n) {
  return answer(n + 1) - 1;
}

// compute(n) gives the n-th number. A small one first, to warm up.
template <class Compute>
int run(recorder& rec, Compute&& compute) {
  const std::size_t n = rec.opt().n, small = std::min<std::size_t>(n, 12);
  rec.check(compute(small) == answer(small), "fib(small)");
  number result = 0;
  rec.time_rounds(std::max<std::size_t>(spawns(n), 1), [&] { result = compute(n); });
  rec.check(result == answer(n), "fib(n)");
  return rec.finish();
}

} // namespace weft::bench::fib
