// SPDX-License-Identifier: MIT
// A round of the method, its parts timed and their units counted.
#pragma once

#include "bench/common/bench.hpp"
#include "bench/fmm/traversal.hpp"

namespace weft::bench::fmm {

struct part {
  double median() const {
    std::vector<double> sorted = times;
    std::sort(sorted.begin(), sorted.end());
    return sorted[sorted.size() / 2];
  }

  const char* name;
  std::vector<double> times{}; // of each round, in ns
  // As of the last round with counted_calls: units, and those that create none.
  std::size_t units = 0, leaf_units = 0;
};

class solver {
 public:
  explicit solver(const std::vector<body>& input)
      : input_(input), scratch_{std::vector<body>(input.size()), std::vector<body>(input.size())},
        sorted_(input.size()) {}

  // Each round begins with the unsorted bodies and has the same result.
  template <class Fork>
  void round() {
    cell root;
    run<Fork>(build, [&] { root = tree_builder<Fork>(input_, scratch_, sorted_).build(); });
    run<Fork>(upward, [&] { fmm::upward<Fork>(root, sorted_); });
    run<Fork>(traversal, [&] { interact<Fork>(root, root, sorted_); });
    run<Fork>(downward, [&] { fmm::downward<Fork>(root, sorted_); });
  }

  const bodies& result() const { return sorted_; }

  void forget_times() {
    for (part* p : {&build, &upward, &traversal, &downward})
      p->times.clear();
  }

  part build{"build"}, upward{"upward"}, traversal{"traversal"}, downward{"downward"};

 private:
  // In a unit of its own: the primary one has the kernel's stack.
  template <class Fork, class F>
  static void run(part& p, const F& f) {
    counted_calls::units = counted_calls::leaf_units = 0;
    const std::int64_t begin = now_ns();
    Fork::for_each(1, [&](unsigned) { f(); });
    p.times.push_back(static_cast<double>(now_ns() - begin));
    if constexpr (std::is_same_v<Fork, counted_calls>) {
      p.units = counted_calls::units;
      p.leaf_units = counted_calls::leaf_units;
    }
  }

  const std::vector<body>& input_;
  scratch scratch_;
  bodies sorted_;
};

} // namespace weft::bench::fmm
