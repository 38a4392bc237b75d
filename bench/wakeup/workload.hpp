// SPDX-License-Identifier: MIT
// wakeup: how long an idle worker takes to run what is pushed or notified from another kernel thread. A
// sample is one push, taken after a pause in which nothing happens; n pushes. Reported beside it: p99, and
// idle_cpu, the CPU time of the whole process during the pauses over their length (1: one core burned).
#pragma once

#include <sched.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "bench/common/bench.hpp"

namespace weft::bench::wakeup {

inline options defaults() {
  return {.n = 200, .rounds = 1, .repeats = 1, .workers = 2, .form = {}};
}

inline constexpr auto pause = std::chrono::milliseconds(2);

inline std::int64_t process_cpu_ns() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return t.tv_sec * 1'000'000'000L + t.tv_nsec;
}

// Where the woken unit reports. The pusher polls it and offers its core meanwhile: a kernel may wake the
// worker on the very core that pushed, and one that spun there would keep it for a whole time slice.
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

// push() starts or notifies a unit that calls arrival::mark() once; after() cleans up behind it.
template <class Push, class After>
std::int64_t latency(Push&& push, After&& after) {
  const std::int64_t begin = now_ns();
  push();
  const std::int64_t end = arrival::await();
  after();
  return end - begin;
}

// once() does one push and returns its latency in ns. Negative values (clocks of two cores) count as 0.
template <class Once>
int run(recorder& rec, Once&& once) {
  for (int i = 0; i < 3; ++i)
    once();
  std::vector<double> all;
  double idle_cpu = 0;
  for (std::size_t i = 0; i < rec.opt().n; ++i) {
    const std::int64_t cpu = process_cpu_ns(), wall = now_ns();
    std::this_thread::sleep_for(pause);
    idle_cpu += static_cast<double>(process_cpu_ns() - cpu) / static_cast<double>(now_ns() - wall);
    all.push_back(static_cast<double>(std::max<std::int64_t>(once(), 0)));
  }
  for (double value : all)
    rec.add_sample(value);
  std::sort(all.begin(), all.end());
  rec.unit("ns/wakeup");
  rec.add_ops(all.size());
  rec.extra("p99", all[all.size() * 99 / 100]);
  rec.extra("idle_cpu", idle_cpu / static_cast<double>(rec.opt().n));
  return rec.finish();
}

} // namespace weft::bench::wakeup
