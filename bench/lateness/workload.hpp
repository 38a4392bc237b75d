// SPDX-License-Identifier: MIT
// lateness: how much later than asked a thread goes on that sleeps 10 ms at a time, while all workers
// compute. A sample is one sleep, in us; the computation is n leaves of about one millisecond, shared out by
// the form. Reported beside it: p50, p99, the worst, how many sleeps there were, and how many fit without any
// lateness.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include "bench/common/bench.hpp"

namespace weft::bench::lateness {

inline options defaults() {
  return {.n = 2000, .rounds = 1, .repeats = 1, .workers = 2, .form = {}};
}

inline constexpr std::chrono::milliseconds sleep_length{10};
inline constexpr std::int64_t leaf_ns = 1'000'000;

// Instructions that nothing removes, on no memory.
inline std::uint64_t turn(std::uint64_t times, std::uint64_t x = 88172645463325252U) {
  for (std::uint64_t i = 0; i < times; ++i) {
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
  }
  return x;
}

class computation {
 public:
  explicit computation(recorder& rec) : recorder_(rec), turns_(turns_of_a_leaf()) {}

  void leaf() {
    if (turn(turns_) != 0)
      leaves_.fetch_add(1, std::memory_order_relaxed);
  }
  [[nodiscard]] bool is_over() const { return over_.load(std::memory_order_acquire); }

  // The sleeper: sleep() sleeps for `sleep_length`.
  template <class Sleep>
  void beat(Sleep&& sleep) {
    while (!is_over()) {
      const std::int64_t begin = now_ns();
      sleep();
      const std::int64_t late = now_ns() - begin - std::chrono::nanoseconds(sleep_length).count();
      if (!is_over())
        late_us_.push_back(static_cast<double>(late) / 1000);
    }
  }

  // compute(leaves) calls leaf() so often; join() waits for the sleeper, which start() has started.
  template <class Start, class Compute, class Join>
  int run(Start&& start, Compute&& compute, Join&& join) {
    start();
    const std::int64_t begin = now_ns();
    compute(recorder_.opt().n);
    const std::int64_t length = now_ns() - begin;
    over_.store(true, std::memory_order_release);
    join();
    recorder_.check(leaves_.load() == recorder_.opt().n, "each leaf once");
    report(length);
    return recorder_.finish();
  }

 private:
  static std::uint64_t turns_of_a_leaf() {
    constexpr std::uint64_t tried = 1'000'000;
    std::int64_t least = INT64_MAX;
    for (int i = 0; i < 20; ++i) {
      const std::int64_t begin = now_ns();
      if (turn(tried) != 0)
        least = std::min(least, now_ns() - begin);
    }
    return tried * leaf_ns / static_cast<std::uint64_t>(least);
  }
  // One that never came back in time has the whole length as its lateness.
  void report(std::int64_t length) {
    if (late_us_.empty())
      late_us_.push_back(static_cast<double>(length) / 1000);
    std::sort(late_us_.begin(), late_us_.end());
    const auto rank = [this](double share) {
      return late_us_[static_cast<std::size_t>(share * static_cast<double>(late_us_.size() - 1))];
    };
    for (const double sample : late_us_)
      recorder_.add_sample(sample);
    recorder_.add_ops(late_us_.size());
    recorder_.unit("us");
    recorder_.extra("p50", rank(0.5));
    recorder_.extra("p99", rank(0.99));
    recorder_.extra("worst", late_us_.back());
    recorder_.extra("beats", static_cast<double>(late_us_.size()));
    recorder_.extra("beats_if_never_late",
                    static_cast<double>(length / std::chrono::nanoseconds(sleep_length).count()));
  }

  recorder& recorder_;
  const std::uint64_t turns_;
  std::atomic<std::size_t> leaves_{0};
  std::atomic<bool> over_{false};
  std::vector<double> late_us_; // the sleeper's until it is joined
};

} // namespace weft::bench::lateness
