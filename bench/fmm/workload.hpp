// SPDX-License-Identifier: MIT
// fmm: section 4.3 of "Analyzing the Performance Trade-Off in Implementing User-Level Threads": a fast
// multipole method, the potential 1/r of n bodies and its gradient, by divide and conquer over an octree.
// Every node, inner one or leaf, that has more than a few bodies is a unit; its parent creates the units of
// all children, then joins them. A form is <technique>, bodies uniform in a cube, or <technique>.plummer. A
// sample is the time of a round, from the unsorted bodies to the potential, for a body. Extras: the parts of
// a round (medians, for a body), its units, those of the dual-tree traversal (what the paper measures), how
// many of these create none, the traversal's time for each of them, and the errors.
#pragma once

#include "bench/common/bench.hpp"
#include "bench/fmm/distributions.hpp"
#include "bench/fmm/solver.hpp"

namespace weft::bench::fmm {

inline options defaults() {
  return {.n = 1'000'000, .rounds = 1, .repeats = 5, .workers = 1, .form = {}};
}

// Every technique with each distribution.
inline std::vector<std::string> forms(const std::vector<std::string>& techniques) {
  std::vector<std::string> all;
  for (const char* distribution : {"", ".plummer"}) {
    for (const std::string& technique : techniques)
      all.push_back(technique + distribution);
  }
  return all;
}

struct form {
  explicit form(const recorder& rec)
      : technique(rec.opt().form.substr(0, rec.opt().form.find('.'))),
        plummer(technique.size() != rec.opt().form.size()) {}
  std::string technique;
  bool plummer;
};

// Relative to direct sums at a few bodies, in the L2 norm.
struct errors {
  double potential, gradient;
};
inline errors errors_of(const bodies& b) {
  const std::size_t n = b.x.size(), sample = std::min<std::size_t>(n, 200);
  std::array<double, 2> difference{}, norm{};
  for (std::size_t k = 0; k < sample; ++k) {
    const std::size_t i = k * n / sample;
    const std::array<double, 4> right = direct(b, i);
    const std::array<float, 4> found = {b.potential[i], b.gx[i], b.gy[i], b.gz[i]};
    for (std::size_t c = 0; c < right.size(); ++c) {
      const double d = static_cast<double>(found[c]) - right[c];
      difference[c == 0 ? 0 : 1] += d * d;
      norm[c == 0 ? 0 : 1] += right[c] * right[c];
    }
  }
  const auto relative = [&](std::size_t i) { return norm[i] > 0 ? std::sqrt(difference[i] / norm[i]) : 0; };
  return {relative(0), relative(1)};
}

// What each part of a round took and what it created, over the timed rounds.
inline void report(recorder& rec, const solver& s) {
  std::size_t units = 0;
  for (const part* p : {&s.build, &s.upward, &s.traversal, &s.downward}) {
    rec.extra(p->name, p->median() / static_cast<double>(rec.opt().n));
    units += p->units;
  }
  const auto traversal_units = static_cast<double>(s.traversal.units);
  rec.extra("units", static_cast<double>(units));
  rec.extra("traversal_units", traversal_units);
  rec.extra("leaf_units", static_cast<double>(s.traversal.leaf_units));
  rec.extra("ns_per_unit", s.traversal.median() * rec.opt().workers / traversal_units);
}

// The first round counts, in plain calls; the second, in units, must have the very same result.
template <class Fork>
int run(recorder& rec) {
  const std::vector<body> input = make_bodies(rec.opt().n, form(rec).plummer ? plummer : uniform);
  solver s(input);
  s.round<counted_calls>();
  const bodies expected = s.result();
  const errors error = errors_of(expected);
  rec.check(error.potential <= 1e-4, "the potential is that of direct summation");
  const auto same = [&] {
    return s.result().potential == expected.potential && s.result().gx == expected.gx &&
           s.result().gy == expected.gy && s.result().gz == expected.gz;
  };
  s.round<Fork>();
  rec.check(same(), "units add up what calls do");
  s.forget_times();
  rec.time_rounds(rec.opt().n, [&] { s.round<Fork>(); });
  rec.check(same(), "every round has the same result");
  report(rec, s);
  rec.extra("error", error.potential);
  rec.extra("gradient_error", error.gradient);
  return rec.finish();
}

} // namespace weft::bench::fmm
