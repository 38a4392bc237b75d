// SPDX-License-Identifier: MIT
// What gdb and perf look at: frames outer > middle > inner > weft_test_stop on a stack of ours, and a second
// stack that is suspended with the same frames. An argument: how many times inner spins, for perf to take
// samples.
#include <cstdlib>

#include "weft/arch/arch.hpp"

using namespace weft::arch;

extern "C" {
context weft_test_main{}, weft_test_running{}, weft_test_suspended{};
[[gnu::noinline]] void weft_test_stop() {
  asm volatile("" ::: "memory");
}
}

static char stacks[2][65536] __attribute__((aligned(64)));
static long spins = 0;

extern "C" [[gnu::noinline]] void weft_test_inner(bool suspend) {
  if (suspend) {
    swap(weft_test_suspended, weft_test_main);
  } else {
    for (long i = 0; i < spins; ++i) {
      asm volatile("" ::: "memory");
    }
    weft_test_stop();
  }
  asm volatile("" ::: "memory");
}

extern "C" [[gnu::noinline]] void weft_test_middle(bool suspend) {
  weft_test_inner(suspend);
  asm volatile("" ::: "memory");
}

extern "C" [[gnu::noinline]] void weft_test_outer(void* suspend) {
  sanitizer::first_arrival();
  weft_test_middle(suspend != nullptr);
  restore(weft_test_main);
}

// The stop again, on a stack that swap_with borrowed.
static void arrive(void*) {
  weft_test_stop();
  asm volatile("" ::: "memory");
}

int main(int count, char** arguments) {
  spins = count > 1 ? std::atol(arguments[1]) : 0;
  sanitizer::adopt_native(weft_test_main.fiber);
  make(weft_test_suspended, stacks[1] + sizeof stacks[1], sizeof stacks[1], &weft_test_outer, &spins);
  swap(weft_test_main, weft_test_suspended);
  save(weft_test_main, weft_test_running, stacks[0] + sizeof stacks[0], sizeof stacks[0], &weft_test_outer,
       nullptr);
  swap_with(weft_test_main, weft_test_suspended, &arrive, nullptr);
  return 0;
}
