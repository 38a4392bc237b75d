// SPDX-License-Identifier: MIT
// wakeup of a kernel thread's code that waits on a condition variable, for any mutex and condition variable
// with the standard's interface.
#pragma once

#include <mutex>
#include <thread>

#include "bench/wakeup/workload.hpp"

namespace weft::bench::wakeup {

template <class Mutex, class Condition>
int run_with_condition(int argc, char** argv) {
  recorder rec(argc, argv, defaults(), {"notify"});
  Mutex mutex;
  Condition changed;
  int wanted = 0; // -1 ends
  std::thread worker([&] {
    std::unique_lock lock(mutex);
    for (;;) {
      changed.wait(lock, [&] { return wanted != 0; });
      if (wanted < 0)
        return;
      wanted = 0;
      arrival::mark();
    }
  });
  const auto set = [&](int value) {
    {
      const std::scoped_lock lock(mutex);
      wanted = value;
    }
    changed.notify_one();
  };
  const int result = run(rec, [&] { return latency([&] { set(1); }, [] {}); });
  set(-1);
  worker.join();
  return result;
}

} // namespace weft::bench::wakeup
