// SPDX-License-Identifier: MIT
// streams: on each of --workers workers one thread, its root, repeats a batch of an operation on that worker
// alone. Forms that create: a batch is n units with an empty body, created, joined and freed, and an
// operation is one unit. Forms that yield: a batch is two threads that yield n times each to each other, and
// an operation is one yield. A sample is the mean over the workers of their own time for an operation, so it
// stays the same with more workers if they do not disturb each other. Beside it: least and most,
// the extremes over all batches of all workers, and their mean; and cpu, the CPU time of the process for an
// operation, which tells what a worker does when there are more workers than cores.
#pragma once

#include <sched.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <vector>

#include "bench/create_join/workload.hpp"

namespace weft::bench::streams {

using create_join::counting_body;
using create_join::empty_body;

inline options defaults() {
  return {.n = 256, .rounds = 1000, .repeats = 5, .workers = 2, .form = {}};
}

inline double process_cpu_ns() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

// One worker's times, in a cache line of its own.
struct alignas(64) lane {
  std::int64_t total = 0, least = 0, most = 0;
};

// What the roots of one repetition share.
class lanes {
 public:
  lanes(unsigned workers, std::size_t rounds) : lanes_(workers), rounds_(rounds) {}

  // The root of worker k calls this. It begins when all roots are there, so that no worker serves two.
  template <class Batch>
  void run(unsigned k, Batch&& batch) {
    ++arrived_;
    while (arrived_ != lanes_.size())
      sched_yield();
    lane own;
    own.least = INT64_MAX;
    const std::int64_t begin = now_ns();
    std::int64_t last = begin;
    for (std::size_t round = 0; round < rounds_; ++round) {
      batch();
      const std::int64_t now = now_ns();
      own.least = std::min(own.least, now - last);
      own.most = std::max(own.most, now - last);
      last = now;
    }
    own.total = last - begin;
    lanes_[k] = own;
  }

  const std::vector<lane>& all() const { return lanes_; }

 private:
  std::vector<lane> lanes_;
  const std::size_t rounds_;
  std::atomic<std::size_t> arrived_{0};
};

inline bool yields(const recorder& rec) {
  return rec.opt().form.starts_with("yield");
}

// launch(lanes, body) starts a root on each worker k that calls lanes.run(k, batch), and returns when all
// have ended. Units that a batch creates call body.run(); those that yield call it after each yield.
template <class Launch>
int run(recorder& rec, Launch&& launch) {
  const options& o = rec.opt();
  const std::size_t batch_ops = (yields(rec) ? 2 : 1) * o.n;
  {
    lanes first(o.workers, 1);
    launch(first, counting_body{});
    rec.check(counting_body::count == batch_ops * o.workers, "every unit runs, every yield returns");
  }
  double least = 1e300, most = 0, sum = 0, cpu = 0;
  const auto batch = static_cast<double>(batch_ops), rounds = static_cast<double>(o.rounds);
  for (std::size_t repeat = 0; repeat < o.repeats; ++repeat) {
    lanes timed(o.workers, o.rounds);
    const double cpu_before = process_cpu_ns();
    launch(timed, empty_body{});
    cpu += process_cpu_ns() - cpu_before;
    double total = 0;
    for (const lane& l : timed.all()) {
      total += static_cast<double>(l.total) / (batch * rounds);
      least = std::min(least, static_cast<double>(l.least) / batch);
      most = std::max(most, static_cast<double>(l.most) / batch);
    }
    rec.add_sample(total / o.workers);
    rec.add_ops(batch_ops * o.rounds * o.workers);
    sum += total / o.workers;
  }
  const auto repeats = static_cast<double>(o.repeats);
  rec.extra("least", least);
  rec.extra("mean", sum / repeats);
  rec.extra("most", most);
  rec.extra("cpu", cpu / (batch * rounds * repeats * o.workers));
  return rec.finish();
}

} // namespace weft::bench::streams
