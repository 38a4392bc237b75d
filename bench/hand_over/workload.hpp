// SPDX-License-Identifier: MIT
// hand_over: how long a thread that is ready waits for the worker of one that waits in the kernel. A sample
// is one wait, in us, from just before the call to the other thread's first instruction; that one then lets
// the first go on. n waits, one each 2 ms, as a program waits that does so now and then. Reported beside it:
// p50, p99, and back: from there until the first is back, p50.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "bench/common/bench.hpp"

namespace weft::bench::hand_over {

inline options defaults() {
  return {.n = 300, .rounds = 1, .repeats = 1, .workers = 1, .form = {}};
}

inline constexpr std::int64_t pause_ns = 2'000'000;

class waits {
 public:
  void begin() { begin_ = now_ns(); }
  // By the other thread, as soon as it runs.
  void taken_over() { taken_over_ = now_ns(); }
  // By the first, once it is back.
  void end() {
    to_others_us_.push_back(static_cast<double>(taken_over_ - begin_) / 1000);
    back_us_.push_back(static_cast<double>(now_ns() - taken_over_) / 1000);
    compute_until(now_ns() + pause_ns);
  }
  int report(recorder& rec) {
    for (const double sample : to_others_us_)
      rec.add_sample(sample);
    rec.add_ops(to_others_us_.size());
    rec.unit("us");
    rec.extra("p50", rank(to_others_us_, 0.5));
    rec.extra("p99", rank(to_others_us_, 0.99));
    rec.extra("back", rank(back_us_, 0.5));
    return rec.finish();
  }

 private:
  static void compute_until(std::int64_t moment) {
    while (now_ns() < moment)
      asm volatile("");
  }
  static double rank(std::vector<double>& all, double share) {
    std::sort(all.begin(), all.end());
    return all[static_cast<std::size_t>(share * static_cast<double>(all.size() - 1))];
  }

  std::int64_t begin_ = 0, taken_over_ = 0;
  std::vector<double> to_others_us_, back_us_;
};

} // namespace weft::bench::hand_over
