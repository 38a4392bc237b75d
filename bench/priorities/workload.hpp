// SPDX-License-Identifier: MIT
// priorities: how long it takes until a thread of high priority runs that becomes ready while one of low
// priority, which never yields, has the only CPU it may use. That is CPU 0; who makes it ready is a kernel
// thread on CPU 1. A sample is one thread; n of them, with a pause before each. Reported beside it: p99, and
// how much the low one got done meanwhile (low_share: of what it does alone).
//
// Forms that end in ".create" make the high thread, the others wake one that waits.
#pragma once

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <random>
#include <thread>

#include "bench/common/bench.hpp"

namespace weft::bench::priorities {

inline options defaults() {
  return {.n = 500, .rounds = 1, .repeats = 1, .workers = 1, .form = {}};
}

// 1 to 8 ms: in step with no monitor.
inline std::chrono::microseconds next_pause() {
  static std::minstd_rand random(4711);
  return std::chrono::microseconds(1000 + random() % 7000);
}

// The k-th CPU of those that the process had when it began; for the calling kernel thread and those it
// starts.
inline cpu_set_t allowed() {
  cpu_set_t now;
  sched_getaffinity(0, sizeof now, &now);
  return now;
}
inline const cpu_set_t allowed_at_start = allowed();
inline cpu_set_t only(unsigned k) {
  cpu_set_t one;
  CPU_ZERO(&one);
  k %= static_cast<unsigned>(CPU_COUNT(&allowed_at_start));
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &allowed_at_start) && k-- == 0)
      CPU_SET(cpu, &one);
  }
  return one;
}
inline void use_cpu(unsigned k) {
  const cpu_set_t one = only(k);
  sched_setaffinity(0, sizeof one, &one);
}

// Where the high thread reports. Who waits for that lets whoever else wants CPU 1 have it, such as a monitor.
struct arrival {
  static inline std::atomic<std::int64_t> at{0};
  static void mark() { at.store(now_ns(), std::memory_order_release); }
  static std::int64_t await() {
    std::int64_t time = 0;
    while ((time = at.exchange(0, std::memory_order_acquire)) == 0)
      sched_yield();
    return time;
  }
};

// What the low thread does: counts until told to end. No calls, no allocations.
struct low_work {
  static inline std::atomic<bool> over{false};
  static inline std::atomic<std::uint64_t> steps{0};
  static void run() {
    while (!over.load(std::memory_order_relaxed))
      steps.store(steps.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  // How many steps a ns.
  template <class Wait>
  static double speed(Wait&& wait) {
    const std::int64_t begin = now_ns();
    const std::uint64_t before = steps.load(std::memory_order_relaxed);
    wait();
    return static_cast<double>(steps.load(std::memory_order_relaxed) - before) /
           static_cast<double>(now_ns() - begin);
  }
};

// On the kernel thread of CPU 1, while the low thread runs on CPU 0. push() makes a high thread ready that
// calls arrival::mark() once; after() cleans up.
template <class Push, class After>
int run(recorder& rec, Push&& push, After&& after) {
  while (low_work::steps.load(std::memory_order_relaxed) == 0)
    std::this_thread::yield();
  const double alone = low_work::speed([] { std::this_thread::sleep_for(std::chrono::milliseconds(50)); });
  std::vector<double> all;
  const double beside = low_work::speed([&] {
    for (std::size_t i = 0; i < rec.opt().n + 3; ++i) {
      std::this_thread::sleep_for(next_pause());
      const std::int64_t begin = now_ns();
      push();
      const std::int64_t latency = arrival::await() - begin;
      after();
      if (i >= 3)
        all.push_back(static_cast<double>(std::max<std::int64_t>(latency, 0)));
    }
  });
  for (const double value : all)
    rec.add_sample(value);
  std::sort(all.begin(), all.end());
  rec.unit("ns/start");
  rec.add_ops(all.size());
  rec.extra("p99", all[all.size() * 99 / 100]);
  rec.extra("low_share", beside / alone);
  return rec.finish();
}

} // namespace weft::bench::priorities
