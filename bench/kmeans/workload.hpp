// SPDX-License-Identifier: MIT
// kmeans: section 4.2 of "Analyzing the Performance Trade-Off in Implementing User-Level Threads". A step
// makes a thread for each of n points, which finds the nearest of 24 centres and adds its point to one of r
// partial sums of that cluster, under the lock of the sum; then one adds the partial sums up to new centres.
// A form is <technique>.<r>. A round is five steps from the same first centres; an operation is one thread.
// Extras: points a second, and the share of the threads that were promoted: that found the lock taken and
// yielded. What differs from the paper: docs/guide/kmeans.md.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "bench/common/bench.hpp"
#include "bench/kmeans/data.hpp"

namespace weft::bench::kmeans {

inline constexpr std::size_t clusters = 24;
inline constexpr unsigned steps = 5;
inline constexpr std::array<std::size_t, 7> replica_counts = {1, 2, 4, 8, 16, 32, 64};
// How many threads one creator has alive at a time. With the paper's 64 creators a part has 7,813 points, so
// there it is all of them; with two it keeps 500,000 stacks from being touched.
inline constexpr std::size_t batch = 8192;

inline options defaults() {
  return {.n = 500'000, .rounds = 1, .repeats = 5, .workers = 2, .form = {}};
}

inline std::vector<std::string> forms(const std::vector<std::string>& techniques) {
  std::vector<std::string> all;
  for (const std::string& technique : techniques) {
    for (const std::size_t r : replica_counts)
      all.push_back(technique + "." + std::to_string(r));
  }
  return all;
}

struct form {
  explicit form(const recorder& rec)
      : technique(rec.opt().form.substr(0, rec.opt().form.rfind('.'))),
        replicas(std::stoul(rec.opt().form.substr(technique.size() + 1))) {}
  std::string technique;
  std::size_t replicas;
};

// The centres of a step, cluster beside cluster: distances to four of them at once need no reordering of
// sums, so every compiler makes the same of it.
class centres {
  using lanes [[gnu::vector_size(16)]] = float;
  static constexpr std::size_t groups = clusters * sizeof(float) / sizeof(lanes);
  static_assert(groups * sizeof(lanes) == clusters * sizeof(float));

 public:
  void set(const std::vector<point>& all) {
    for (std::size_t d = 0; d < features; ++d) {
      float row[clusters];
      for (std::size_t k = 0; k < clusters; ++k)
        row[k] = all[k].at[d];
      std::memcpy(at_[d], row, sizeof row);
    }
  }

  std::size_t nearest(const point& p) const {
    lanes sums[groups] = {};
    for (std::size_t d = 0; d < features; ++d) {
#pragma GCC unroll 8 // else GCC keeps the sums in memory, at twice the time
      for (std::size_t g = 0; g < groups; ++g) {
        const lanes difference = at_[d][g] - p.at[d];
        sums[g] += difference * difference;
      }
    }
    float distances[clusters];
    std::memcpy(distances, sums, sizeof distances);
    return static_cast<std::size_t>(std::min_element(distances, distances + clusters) - distances);
  }

 private:
  lanes at_[features][groups] = {};
};

// One replica of the sum of a cluster. *Ownership*: all but `lock` is the lock's owner's.
template <class Lock>
struct partial_sum {
  alignas(64) Lock lock;
  std::size_t count = 0;    // points of this step
  std::size_t promoted = 0; // of the threads of this and earlier steps
  point sum;

  void add(const point& values, std::size_t points = 1) {
    const float* __restrict from = values.at;
    float* __restrict to = sum.at;
    count += points;
    for (std::size_t d = 0; d < features; ++d)
      to[d] += from[d];
  }
};

// The points and the state of the algorithm. `Lock` has try_lock() and unlock().
template <class Lock>
class work {
 public:
  work(std::size_t n, std::size_t replicas)
      : points_(resample(read_rows(), n)), clusters_of_(n), partials_(clusters * replicas),
        mask_(replicas - 1) {
    std::mt19937_64 random(2);
    for (std::size_t k = 0; k < clusters; ++k)
      first_.push_back(points_[random() % n]);
  }

  // Thread i's part of a step. SWITCH: yield() may resume on another worker.
  template <class Yield>
  void add(std::size_t i, Yield yield) {
    const point& p = points_[i];
    const std::size_t cluster = centres_.nearest(p);
    clusters_of_[i] = static_cast<unsigned char>(cluster);
    partial_sum<Lock>& mine = partials_[cluster * (mask_ + 1) + (i & mask_)];
    if (!mine.lock.try_lock()) [[unlikely]] {
      do {
        yield();
      } while (!mine.lock.try_lock());
      ++mine.promoted;
    }
    mine.add(p);
    mine.lock.unlock();
  }

  // The threads for one of so many equal parts of the points, a batch after the other: create(j, i) makes
  // thread i, the j-th of its batch, and join(j) joins it.
  template <class Create, class Join>
  void in_batches(std::size_t part, std::size_t parts, Create create, Join join) const {
    const std::size_t n = points_.size(), end = (part + 1) * n / parts;
    for (std::size_t begin = part * n / parts; begin < end; begin += batch) {
      const std::size_t count = std::min(batch, end - begin);
      for (std::size_t j = 0; j < count; ++j)
        create(j, begin + j);
      for (std::size_t j = 0; j < count; ++j)
        join(j);
    }
  }

  void start_over() { next_ = first_; }
  void begin_step() {
    now_ = next_;
    centres_.set(now_);
  }
  // Adds the partial sums up and clears them. A cluster without points keeps its centre.
  void end_step() {
    for (std::size_t k = 0; k < clusters; ++k) {
      partial_sum<Lock>* const mine = &partials_[k * (mask_ + 1)];
      for (std::size_t r = 1; r <= mask_; ++r) {
        mine->add(mine[r].sum, mine[r].count);
        clear(mine[r]);
      }
      for (std::size_t d = 0; d < features && mine->count != 0; ++d)
        next_[k].at[d] = mine->sum.at[d] / static_cast<float>(mine->count);
      sizes_[k] = mine->count;
      clear(*mine);
    }
  }

  // Whether the last step is what one thread makes of the same centres: each point in the same cluster and
  // counted once, and each coordinate of the new centres within 0.001 (of 16). They differ as float sums in
  // different orders do: 0.0001 at most with the default sizes. For every 64th point the distances themselves
  // are computed anew, in double.
  bool right() const {
    std::vector<std::array<double, features>> sums(clusters);
    std::array<std::size_t, clusters> counts{};
    for (std::size_t i = 0; i < points_.size(); ++i) {
      const std::size_t k = centres_.nearest(points_[i]);
      if (clusters_of_[i] != k || (i % 64 == 0 && !is_nearest(points_[i], k)))
        return false;
      ++counts[k];
      for (std::size_t d = 0; d < features; ++d)
        sums[k][d] += static_cast<double>(points_[i].at[d]);
    }
    if (counts != sizes_)
      return false;
    for (std::size_t k = 0; k < clusters; ++k) {
      for (std::size_t d = 0; d < features && counts[k] != 0; ++d) {
        const double expected = sums[k][d] / static_cast<double>(counts[k]);
        if (!(std::abs(static_cast<double>(next_[k].at[d]) - expected) < 0.001))
          return false;
      }
    }
    return true;
  }

  // Of all steps since the last call.
  std::size_t take_promoted() {
    std::size_t all = 0;
    for (partial_sum<Lock>& s : partials_)
      all += std::exchange(s.promoted, 0);
    return all;
  }

 private:
  static void clear(partial_sum<Lock>& s) {
    s.count = 0;
    s.sum = point();
  }

  bool is_nearest(const point& p, std::size_t k) const {
    const auto distance = [&p](const point& centre) {
      double sum = 0;
      for (std::size_t d = 0; d < features; ++d) {
        const double difference = static_cast<double>(p.at[d]) - static_cast<double>(centre.at[d]);
        sum += difference * difference;
      }
      return sum;
    };
    double least = std::numeric_limits<double>::max();
    for (const point& centre : now_)
      least = std::min(least, distance(centre));
    return distance(now_[k]) <= least * 1.00001;
  }

  const std::vector<point> points_;
  std::vector<unsigned char> clusters_of_;
  std::vector<partial_sum<Lock>> partials_;   // the replicas of a cluster side by side
  const std::size_t mask_;                    // replicas - 1, a power of two less one
  std::vector<point> first_, now_, next_;     // centres: of the first step, this and the next
  centres centres_;                           // now_
  std::array<std::size_t, clusters> sizes_{}; // points of each, in the last step
};

// add_all(work) calls work.add() for every point, each from a thread of its own, and joins them.
template <class Lock, class AddAll>
int run(recorder& rec, AddAll&& add_all) {
  const std::size_t n = rec.opt().n;
  if (n == 0 || rec.opt().workers == 0)
    give_up(wrong_data, "--n and --workers must be at least 1");
  work<Lock> w(n, form(rec).replicas);
  const auto round = [&](auto&& after_step) {
    w.start_over();
    for (unsigned step = 0; step < steps; ++step) {
      w.begin_step();
      add_all(w);
      w.end_step();
      after_step();
    }
  };
  round([&] { rec.check(w.right(), "a step of the warm-up"); });
  w.take_promoted();
  const std::int64_t begin = now_ns();
  rec.time_rounds(n * steps, [&] { round([] {}); });
  const double ns = static_cast<double>(now_ns() - begin);
  const double threads = static_cast<double>(n * steps * rec.opt().rounds * rec.opt().repeats);
  rec.check(w.right(), "the last step");
  rec.extra("points_per_s", threads / ns * 1e9);
  rec.extra("promoted", static_cast<double>(w.take_promoted()) / threads);
  return rec.finish();
}

} // namespace weft::bench::kmeans
