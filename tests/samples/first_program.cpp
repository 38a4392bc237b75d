// SPDX-License-Identifier: MIT
// The first program of README.md and docs/guide/first-steps.md, whole.
// [sample first-program]
#include <cstdio>
#include <mutex>
#include <vector>
#include <weft/weft.hpp>

int main() {
  weft::mutex lock;
  long sum = 0;
  std::vector<weft::thread> threads;
  for (int i = 1; i <= 100'000; ++i) {
    threads.emplace_back([&, i] {
      std::scoped_lock held(lock);
      sum += i;
    });
  }
  for (weft::thread& t : threads) t.join();
  std::printf("%ld, on %u workers\n", sum, weft::runtime::worker_count());
}
// [/sample]
