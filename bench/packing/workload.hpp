// SPDX-License-Identifier: MIT
// packing: the load of section 4.2 of "Lightweight Preemptive User-Level Threads" (Shiina et al.) without its
// memory: N equal threads, as many as workers were made, while n of these are active. A region starts the
// threads, each computes for T, and waits for all; the best that can be is N * T / n. A form is <how>.<T in
// microseconds>; --n is N, --workers is n. An operation is one thread of a region: a sample is the time of a
// region * n / N, so T if nothing is lost. T is calibrated before each sample. Extra: what the median sample
// is above T, in percent.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>

#include "bench/common/bench.hpp"

namespace weft::bench::packing {

inline options defaults() {
  return {.n = 4, .rounds = 10, .repeats = 15, .workers = 2, .form = {}};
}

inline std::vector<std::string> forms(const std::vector<std::string>& ways) {
  std::vector<std::string> all;
  for (const char* length : {"1000", "3000", "10000", "100000"}) {
    for (const std::string& way : ways)
      all.push_back(way + "." + length);
  }
  return all;
}

struct form {
  explicit form(const recorder& rec)
      : way(rec.opt().form.substr(0, rec.opt().form.find('.'))),
        length_ns(1000.0 * std::stod(rec.opt().form.substr(way.size() + 1))) {}
  std::string way;
  double length_ns;
};

// So many steps of a computation that touches no memory; returns something of it.
inline double compute(std::size_t steps) {
  double x = 1.0;
  for (std::size_t i = 0; i < steps; ++i) {
    x = x * 1.0000001 + 1e-9;
    asm volatile("" : "+x"(x)); // one after the other
  }
  return x;
}

// How many steps take about so long, as the machine is now: the least of several, for others may run too.
inline std::size_t steps_for(double ns) {
  constexpr std::size_t probe = 200'000;
  double least = 1e18;
  for (int k = 0; k < 5; ++k) {
    const std::int64_t begin = now_ns();
    asm volatile("" : : "x"(compute(probe)));
    least = std::min(least, static_cast<double>(now_ns() - begin));
  }
  return static_cast<std::size_t>(ns / least * probe);
}

// `region(threads, f)` calls f(i) on each of so many threads.
template <class Region>
int run(recorder& rec, Region&& region) {
  const form wanted(rec);
  const auto threads = static_cast<unsigned>(rec.opt().n);
  const double share = static_cast<double>(rec.opt().workers) / threads;
  std::vector<std::size_t> calls(threads);
  std::vector<double> overheads;
  const auto once = [&](std::size_t steps) {
    region(threads, [&](unsigned i) {
      asm volatile("" : : "x"(compute(steps)));
      ++calls[i];
    });
  };
  once(steps_for(wanted.length_ns));
  once(steps_for(wanted.length_ns));
  for (std::size_t repeat = 0; repeat < rec.opt().repeats; ++repeat) {
    const std::size_t steps = steps_for(wanted.length_ns);
    const std::int64_t begin = now_ns();
    for (std::size_t r = 0; r < rec.opt().rounds; ++r)
      once(steps);
    const double sample =
        static_cast<double>(now_ns() - begin) / static_cast<double>(rec.opt().rounds) * share;
    rec.add_sample(sample);
    overheads.push_back(100 * (sample / wanted.length_ns - 1));
  }
  rec.add_ops(rec.opt().rounds * rec.opt().repeats * threads);
  std::sort(overheads.begin(), overheads.end());
  rec.extra("overhead_percent", overheads[overheads.size() / 2]);
  rec.extra("least_overhead_percent", overheads.front());
  rec.check(std::all_of(calls.begin(), calls.end(),
                        [&](std::size_t c) { return c == 2 + rec.opt().rounds * rec.opt().repeats; }),
            "every thread computed in every region");
  return rec.finish();
}

} // namespace weft::bench::packing
