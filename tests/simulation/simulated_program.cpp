// SPDX-License-Identifier: MIT
// A program that knows nothing of simulation: it loses an update in some schedules, and then exits with 1.
#include <cstdio>
#include <mutex>
#include <vector>

#include "weft/weft.hpp"

int main() {
  weft::mutex lock;
  long value = 0;
  const auto add = [&] {
    long seen;
    {
      const std::scoped_lock held(lock);
      seen = value;
    }
    const std::scoped_lock held(lock);
    value = seen + 1;
  };
  std::vector<weft::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back(add);
  for (auto& t : threads)
    t.join();
  std::printf("%ld\n", value);
  return value == 3 ? 0 : 1;
}
