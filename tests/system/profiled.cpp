// SPDX-License-Identifier: MIT
// What perf looks at: threads of Weft that compute in outer > middle > inner and change over now and then.
#include <atomic>
#include <cstdlib>

#include "weft/weft.hpp"

namespace {
std::atomic<long> rounds{0};
}

extern "C" {
[[gnu::noinline]] void weft_test_inner() {
  // Compilers give a function that calls nothing no frame, and by frame pointers its caller would be missing.
  asm volatile("" ::"r"(__builtin_frame_address(0)));
  for (long i = 0; i < 200'000; ++i)
    asm volatile("" ::: "memory");
}
[[gnu::noinline]] void weft_test_middle() {
  weft_test_inner();
  asm volatile("" ::: "memory");
}
[[gnu::noinline]] void weft_test_outer() {
  while (rounds.fetch_sub(1) > 0) {
    weft_test_middle();
    weft::this_thread::yield();
  }
}
}

int main(int count, char** arguments) {
  rounds = count > 1 ? std::atol(arguments[1]) : 1;
  weft::runtime::start({.workers = 2});
  weft::thread all[4];
  for (auto& one : all)
    one = weft::thread([] {
      weft_test_outer();
      asm volatile("" ::: "memory");
    });
  for (auto& one : all)
    one.join();
  return 0;
}
