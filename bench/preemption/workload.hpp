// SPDX-License-Identifier: MIT
// preemption: what it costs that others can make a thread leave. n: the interval of the ticks, in us.
//
// switch.<kind>          two threads on one worker, each of which sends itself a tick as soon as it runs, so
// no
//                        timer and no other core has part in it: from the last instruction of one to the
//                        first of the other, one reading of the clock included. A sample is the median of
//                        `rounds` preemptions.
// tick.<kind>[.<source>] two threads for each worker that do nothing but read the clock, preempted by ticks:
// the
//                        same, with all that the tick costs whom it interrupts. `lost` is the mean of all
//                        gaps above a microsecond, a switch or not: what Fig. 4 of the paper shows.
// overhead.<kind>[.<source>]  ten threads for each worker that compute, beside the same work by cooperative
//                        ones: CPU time of the process, in percent more. Both are measured in turn, so that a
//                        busy minute hits them alike. `timer`: cooperative threads beside a timer for each
//                        worker whose handler does nothing. `of_least`: the same of the least of each.
//                        `above_timer`: the median of what is more than with such a timer, measured in turn
//                        with it as well.
// alone.<kind>           the same with one thread for each worker: nobody waits.
//
// "Lightweight Preemptive User-Level Threads" (Shiina, Iwasaki, Taura, Balaji, PPoPP 2021): Table 1, Fig. 4,
// Fig. 6.
#pragma once

#include <time.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/common/bench.hpp"

namespace weft::bench::preemption {

inline options defaults() {
  return {.n = 1000, .rounds = 1000, .repeats = 9, .workers = 1, .form = {}};
}

inline double median_of(std::vector<double>& values) {
  if (values.empty())
    return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// One for each worker: until when each of its two threads has run last. They never run at the same time, and
// may be made to leave between any two instructions, so each writes its own time only; one that finds that it
// was away looks at the other's. No memory is allocated meanwhile, which threads of some kinds may not do.
struct alignas(128) relay {
  std::int64_t left[2] = {};
  std::size_t taken_over = 0;     // gaps during which the other ran
  std::vector<double> gaps, lost; // from its last instruction to the first; all above a microsecond

  void reserve(std::size_t n) {
    gaps.reserve(2 * n + 16);
    lost.reserve(4 * n + 16);
  }
  // Thread `me`, which was there `before`, is back.
  void arrive(int me, std::int64_t before, std::int64_t now) {
    const std::int64_t other = left[1 - me];
    const bool changed = other > before;
    const auto gap = static_cast<double>(now - (changed ? other : before));
    if (changed) {
      ++taken_over;
      if (gaps.size() < gaps.capacity())
        gaps.push_back(gap);
    }
    if (gap > 1000 && lost.size() < lost.capacity())
      lost.push_back(gap);
  }
};

// What each of the two threads does: leaves n times of its own accord.
template <class Leave>
void leave_in_turn(relay& r, int me, std::size_t n, Leave&& leave) {
  for (std::size_t i = 0; i < n; ++i) {
    const std::int64_t before = r.left[me] = now_ns();
    leave();
    r.arrive(me, before, now_ns());
  }
}

// What each of the two threads does: looks at the clock until it has seen others take over often enough.
inline void watch_clock(relay& r, int me, std::size_t n, std::int64_t give_up) {
  std::int64_t before = now_ns();
  while (r.taken_over < n && before < give_up) {
    const std::int64_t now = now_ns();
    if (now - before > 1000)
      r.arrive(me, before, now);
    r.left[me] = now;
    asm volatile("" ::: "memory"); // it is the other's to read
    before = now;
  }
}

// About a nanosecond each, and no two at once.
inline void compute(std::size_t steps) {
  std::uint64_t x = steps;
  for (std::size_t i = 0; i < steps; ++i) {
    x = x * 6364136223846793005U + 1442695040888963407U;
    asm volatile("" : "+r"(x));
  }
}

inline std::int64_t cpu_ns() {
  timespec now;
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// CPU time of the process in ns.
template <class Round>
double cost_of(Round&& round) {
  const std::int64_t begin = cpu_ns();
  round();
  return static_cast<double>(cpu_ns() - begin);
}

// `plain()`, `with_timer()` and `measured()` are rounds that do the same work.
template <class Plain, class Timer, class Measured>
void compare(recorder& rec, Plain&& plain, Timer&& with_timer, Measured&& measured) {
  plain();
  measured();
  double least_plain = 1e18, least_measured = 1e18;
  std::vector<double> above_timer;
  for (std::size_t repeat = 0; repeat < rec.opt().repeats; ++repeat) {
    const double a = cost_of(plain), b = cost_of(with_timer), c = cost_of(measured);
    const double d = cost_of(measured), e = cost_of(with_timer), f = cost_of(plain);
    rec.add_sample(100 * ((c + d) / (a + f) - 1));
    above_timer.push_back(100 * (c + d - b - e) / (a + f));
    least_plain = std::min({least_plain, a, f});
    least_measured = std::min({least_measured, c, d});
  }
  rec.add_ops(rec.opt().repeats);
  rec.unit("% more CPU time");
  rec.extra("of_least", 100 * (least_measured / least_plain - 1));
  rec.extra("above_timer", median_of(above_timer));
}

} // namespace weft::bench::preemption
