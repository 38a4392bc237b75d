// SPDX-License-Identifier: MIT
// mutex: lock and unlock without contention, while a second kernel thread is alive (C libraries elide
// atomics in single-threaded processes). One operation is one lock and one unlock.
#pragma once

#include <atomic>
#include <thread>

#include "bench/common/bench.hpp"

namespace weft::bench::mutex {

inline options defaults() {
  return {.n = 1000000, .rounds = 2, .repeats = 7, .workers = 1, .form = {}};
}

// A kernel thread that sleeps until the end.
class second_kernel_thread {
 public:
  second_kernel_thread() : thread_([this] { done_.wait(false); }) {}
  ~second_kernel_thread() {
    done_ = true;
    done_.notify_one();
    thread_.join();
  }

 private:
  std::atomic<bool> done_{false};
  std::thread thread_;
};

// lock() and unlock() are called in pairs by the calling thread.
template <class Lock, class Unlock>
int run(recorder& rec, Lock&& lock, Unlock&& unlock) {
  const second_kernel_thread second;
  std::size_t count = 0;
  const auto round = [&] {
    for (std::size_t i = 0; i < rec.opt().n; ++i) {
      lock();
      asm volatile("" : "+m"(count)); // the protected datum lives in memory
      ++count;
      unlock();
    }
  };
  round();
  rec.time_rounds(rec.opt().n, round);
  rec.check(count == rec.opt().n * (1 + rec.opt().rounds * rec.opt().repeats), "every critical section ran");
  return rec.finish();
}

} // namespace weft::bench::mutex
