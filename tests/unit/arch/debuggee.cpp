// SPDX-License-Identifier: MIT
// What gdb and perf look at: frames outer > middle > inner > weft_test_stop on a stack of ours, and two
// stacks that are suspended with the same frames, one by swap_and_return(). An argument: how many times inner
// spins, for perf to take samples.
#include <cstdlib>

#include "weft/arch/arch.hpp"

using namespace weft::arch;

extern "C" {
context weft_test_main{}, weft_test_running{}, weft_test_suspended{}, weft_test_returning{};
[[gnu::noinline]] void weft_test_stop() {
  asm volatile("" ::: "memory");
}
}

static char stacks[3][65536] __attribute__((aligned(64)));
static long spins = 0;
enum class part { runs, is_suspended, is_returning };
static part parts[] = {part::runs, part::is_suspended, part::is_returning};

extern "C" [[gnu::noinline]] void weft_test_inner(part mine) {
  if (mine == part::is_suspended) {
    swap(weft_test_suspended, weft_test_main);
  } else if (mine == part::is_returning) {
    swap_and_return(weft_test_returning, weft_test_main);
  } else {
    for (long i = 0; i < spins; ++i) {
      asm volatile("" ::: "memory");
    }
    weft_test_stop();
  }
  asm volatile("" ::: "memory");
}

extern "C" [[gnu::noinline]] void weft_test_middle(part mine) {
  weft_test_inner(mine);
  asm volatile("" ::: "memory");
}

extern "C" [[gnu::noinline]] void weft_test_outer(void* mine) {
  sanitizer::first_arrival();
  weft_test_middle(*static_cast<part*>(mine));
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
  make(weft_test_suspended, stacks[1] + sizeof stacks[1], sizeof stacks[1], &weft_test_outer, &parts[1]);
  swap(weft_test_main, weft_test_suspended);
  make(weft_test_returning, stacks[2] + sizeof stacks[2], sizeof stacks[2], &weft_test_outer, &parts[2]);
  swap(weft_test_main, weft_test_returning);
  save(weft_test_main, weft_test_running, stacks[0] + sizeof stacks[0], sizeof stacks[0], &weft_test_outer,
       &parts[0]);
  swap_with(weft_test_main, weft_test_suspended, &arrive, nullptr);
  return 0;
}
