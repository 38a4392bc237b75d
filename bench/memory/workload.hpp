// SPDX-License-Identifier: MIT
// memory: resident bytes a thread, for n threads at once with stacks of 16 KiB, in one of two states:
// "created" (not started) and "blocked" (started, waiting for the first time). Page tables (VmPTE) are
// reported beside it, as page_table_bytes. There is one sample; --rounds and --repeats do nothing.
#pragma once

#include "bench/common/bench.hpp"

namespace weft::bench::memory {

inline constexpr std::size_t stack_size = 16 * 1024;

inline options defaults() {
  return {.n = 100000, .rounds = 1, .repeats = 1, .workers = 1, .form = {}};
}

// How far the threads got. Not atomic where the threads share a worker; peers with kernel threads lock
// around it.
struct progress {
  static inline volatile std::size_t started = 0;
  static void mark() { started = started + 1; }
};

// A vector whose memory is resident before the measurement begins.
template <class T>
std::vector<T> resident(std::size_t n) {
  std::vector<T> values(n);
  for (T& value : values)
    asm volatile("" : : "r"(&value) : "memory");
  return values;
}

// reach() brings n threads into the state, leave() lets them run and joins them all. Each thread calls
// progress::mark() once, before it waits.
template <class Reach, class Leave>
int run(recorder& rec, Reach&& reach, Leave&& leave) {
  const std::size_t n = rec.opt().n, expected = rec.form_is("blocked") ? n : 0;
  const memory_use before = memory_now();
  reach();
  const memory_use after = memory_now();
  rec.check(progress::started == expected, "the threads are in the state that is measured");
  leave();
  rec.check(progress::started == n, "every thread ran");
  rec.unit("bytes/thread");
  rec.add_ops(n);
  rec.add_sample((after.resident - before.resident) / static_cast<double>(n));
  rec.extra("page_table_bytes", (after.page_tables - before.page_tables) / static_cast<double>(n));
  return rec.finish();
}

} // namespace weft::bench::memory
