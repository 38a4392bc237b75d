// SPDX-License-Identifier: MIT
// constructs: what single constructs of OpenMP cost in a team of `workers` threads.
//   region   an empty parallel region
//   barrier  a barrier in one
//   inner    two threads, each of which opens an empty region of `workers`: the pair
//   lock     set and unset a lock that all threads want: a pair of calls by one of them
//   fib      fib(n) by tasks, no cut-off: the whole tree
//   idle     nothing, for a while, after a region: CPU time in ms
// A form is <construct>.<policy>: how threads wait.
#pragma once

#include <array>

#include "bench/common/bench.hpp"

namespace weft::bench::constructs {

inline constexpr std::array<const char*, 6> names = {"region", "barrier", "inner", "lock", "fib", "idle"};
inline constexpr std::array<const char*, 3> policies = {"default", "active", "passive"};

inline options defaults() {
  return {.n = 20, .rounds = 200, .repeats = 51, .workers = 2, .form = {}};
}

inline std::vector<std::string> forms() {
  std::vector<std::string> all;
  for (const std::string name : names) {
    for (const char* policy : policies)
      all.push_back(name + "." + policy);
  }
  return all;
}

inline long fib_by_calls(long n) {
  return n < 2 ? n : fib_by_calls(n - 1) + fib_by_calls(n - 2);
}

// Calls sample(), which gives ns for an operation, after three that only warm up; until there are enough
// samples or the time is used up.
template <class Sample>
void take_samples(recorder& rec, std::size_t ops, Sample&& sample) {
  constexpr std::int64_t longest = 400'000'000;
  const std::int64_t begin = now_ns();
  for (int i = 0; i < 3 && now_ns() - begin < longest / 4; ++i)
    sample();
  const std::int64_t warm = now_ns();
  for (std::size_t i = 0; i < rec.opt().repeats && (i == 0 || now_ns() - warm < longest); ++i) {
    rec.add_sample(sample());
    rec.add_ops(ops);
  }
}

} // namespace weft::bench::constructs
