// SPDX-License-Identifier: MIT
// patterns: what OpenMP programs are made of, after "Analysis of Threading Libraries for High Performance
// Computing" (Castello et al.), figures 8 to 13. The work is BLAS's scal on a vector of n elements (nested:
// n rows of n), so the time is that of creating and joining.
//   create    one unit a worker: until the last is created       (figure 8)
//   join      the same: from there until the last is joined      (figure 9)
//   for_loop  the vector in as many parts as workers             (figure 10)
//   single    a task an element, all created by one              (figure 11)
//   parallel  a task an element, created by one unit a worker    (figure 12)
//   nested    rows in as many parts as workers, each row again   (figure 13)
// A form is <pattern>.<variant>. An operation is one round. Extra: on how many kernel threads the units of a
// round ran.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>

#include "bench/common/bench.hpp"
#include "bench/common/scal.hpp"

namespace weft::bench::patterns {

inline constexpr std::array<const char*, 6> names = {"create", "join",     "for_loop",
                                                     "single", "parallel", "nested"};

inline options defaults() {
  return {.n = 1000, .rounds = 20, .repeats = 40, .workers = 2, .form = {}};
}

// Every pattern in each of these variants.
inline std::vector<std::string> forms(const std::vector<std::string>& variants) {
  std::vector<std::string> all;
  for (const std::string name : names) {
    for (const std::string& variant : variants)
      all.push_back(name + "." + variant);
  }
  return all;
}

struct form {
  explicit form(const recorder& rec)
      : pattern(rec.opt().form.substr(0, rec.opt().form.find('.'))),
        variant(rec.opt().form.substr(pattern.size() + 1)) {}
  // Whether the variant's name has this part.
  bool has(std::string_view part) const { return variant.find(part) != std::string::npos; }

  std::string pattern, variant;
};

// The vector or matrix, and the check that every element was scaled once in every round.
class work {
 public:
  work(std::size_t n, unsigned workers, bool matrix) : n(n), workers(workers), y_(matrix ? n * n : n) {
    for (std::size_t i = 0; i < y_.size(); ++i)
      y_[i] = start(i);
  }

  // The k-th of `workers` parts of [0, n).
  std::size_t begin_of(std::size_t k) const { return k * n / workers; }

  void scale(std::size_t first, std::size_t last) {
    note();
    scal(y_.data(), first, last, factor_);
  }
  void scale_one(std::size_t i) {
    note();
    y_[i] *= factor_;
  }
  // Counts the kernel thread that calls; scale() and scale_one() do.
  void note() {
    if (noting_ != 0) [[unlikely]]
      note_slowly();
  }

  void next_round() {
    ++round_;
    factor_ = odd() ? 2.0F : 0.5F;
  }
  // A round whose kernel threads are counted.
  template <class Round>
  unsigned count_threads(Round&& round) {
    noting_ = round_ + 1;
    threads_ = 0;
    round();
    noting_ = 0;
    return std::min(threads_.load(), workers);
  }
  bool odd() const { return round_ % 2 != 0; }
  bool right() const {
    double sum = 0, expected = 0;
    for (std::size_t i = 0; i < y_.size(); ++i) {
      sum += static_cast<double>(y_[i]);
      expected += static_cast<double>(start(i));
    }
    return sum == (odd() ? 2 * expected : expected); // exact: powers of two, small integers
  }

  const std::size_t n;
  const unsigned workers;

 private:
  static float start(std::size_t i) { return static_cast<float>(i % 1021 + 1); }

  [[gnu::noinline]] void note_slowly() {
    static thread_local unsigned seen = 0;
    if (seen != noting_) {
      seen = noting_;
      threads_.fetch_add(1, std::memory_order_relaxed);
    }
  }

  std::vector<float> y_;
  float factor_ = 1;
  unsigned round_ = 0;
  unsigned noting_ = 0;
  std::atomic<unsigned> threads_{0};
};

// What a reading of the clock adds to a time.
inline std::int64_t clock_cost() {
  std::int64_t least = 1'000'000;
  for (int i = 0; i < 1000; ++i) {
    const std::int64_t begin = now_ns();
    least = std::min(least, now_ns() - begin);
  }
  return least;
}

// `peer` has a function for each pattern, and per_worker(work, created) for create and join, which calls
// created() when all units are. Rounds go on until there are enough samples or the time is used up.
template <class Peer>
int run(recorder& rec, Peer&& peer) {
  const std::string pattern = form(rec).pattern;
  const bool create = pattern == "create", join = pattern == "join";
  // One element a unit where there is one unit a worker.
  work w(create || join ? rec.opt().workers : rec.opt().n, rec.opt().workers, pattern == "nested");
  constexpr std::int64_t longest_warm_up = 10'000'000, longest = 60'000'000, long_enough = 20'000;

  const std::int64_t clock = clock_cost();
  // The time of a round in ns.
  const auto round = [&]() -> std::int64_t {
    w.next_round();
    std::int64_t begin = now_ns(), end = 0;
    if (create || join) {
      std::int64_t between = 0;
      peer.per_worker(w, [&] { between = now_ns(); });
      if (create)
        end = between;
      else
        begin = between;
    } else if (pattern == "for_loop") {
      peer.for_loop(w);
    } else if (pattern == "single") {
      peer.single(w);
    } else if (pattern == "parallel") {
      peer.parallel(w);
    } else {
      peer.nested(w);
    }
    return (end != 0 ? end : now_ns()) - begin - clock;
  };

  double threads = 0;
  unsigned counted = 0;
  const auto for_a_while = [](auto&& act) {
    for (const std::int64_t start = now_ns(); now_ns() - start < longest_warm_up;)
      act();
  };
  const auto counting_round = [&] {
    threads += w.count_threads(round);
    ++counted;
  };
  // A round that takes longer than all the warming up is warm, and tells enough.
  const std::int64_t start = now_ns();
  counting_round();
  if (now_ns() - start < longest_warm_up) {
    for_a_while(round);
    for_a_while(counting_round);
  }
  if (!w.odd())
    round();
  rec.check(w.right(), "the sum of the scaled vector"); // after an odd number of rounds
  rec.extra("threads", threads / counted);

  rec.unit("ns/round");
  const std::int64_t begin = now_ns();
  bool enough = false;
  for (std::size_t repeat = 0; repeat < rec.opt().repeats && !enough; ++repeat) {
    std::int64_t sum = 0;
    std::size_t rounds = 0;
    do {
      sum += round();
      ++rounds;
      enough = now_ns() - begin > longest;
    } while (rounds < rec.opt().rounds && sum < long_enough && !enough);
    rec.add_sample(static_cast<double>(sum) / static_cast<double>(rounds));
    rec.add_ops(rounds);
  }
  rec.check(w.right(), "the sum of the scaled vector at the end");
  return rec.finish();
}

} // namespace weft::bench::patterns
