// SPDX-License-Identifier: MIT
// wakeup of a kernel thread that waits on a condition variable.
#include <condition_variable>
#include <mutex>

#include "bench/wakeup/workload.hpp"

namespace bench = weft::bench;

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, bench::wakeup::defaults(), {"notify"});
  std::mutex mutex;
  std::condition_variable changed;
  int wanted = 0; // -1 ends
  std::thread worker([&] {
    std::unique_lock lock(mutex);
    for (;;) {
      changed.wait(lock, [&] { return wanted != 0; });
      if (wanted < 0)
        return;
      wanted = 0;
      bench::wakeup::arrival::mark();
    }
  });
  const auto set = [&](int value) {
    {
      const std::scoped_lock lock(mutex);
      wanted = value;
    }
    changed.notify_one();
  };
  const int result = bench::wakeup::run(rec, [&] { return bench::wakeup::latency([&] { set(1); }, [] {}); });
  set(-1);
  worker.join();
  return result;
}
