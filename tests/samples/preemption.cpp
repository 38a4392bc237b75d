// SPDX-License-Identifier: MIT
// Samples of docs/guide/preemption.md.
#include <weft/preemption.hpp>
#include <weft/runtime.hpp>
#include <weft/thread.hpp>

#include <atomic>
#include <system_error>

#include "tests/samples/check.hpp"

using samples::check;

namespace {

std::atomic_flag spin_lock_of_mine;
int guarded = 0;

void spins() {
  // [sample spinner]
  std::atomic<bool> done{false};
  weft::thread_attributes a;
  a.preemption = weft::preemption::own_tls;
  weft::thread spinner(a, [&done] {
    while (!done) {  // calls nothing, waits for nothing
    }
  });
  weft::thread other([&done] { done = true; });
  other.join();
  spinner.join();
  // [/sample]
  weft::thread careful(a, [] {
    // [sample off]
    const weft::no_preemption until_the_end_of_the_scope;
    while (spin_lock_of_mine.test_and_set(std::memory_order_acquire)) {
    }
    ++guarded;
    spin_lock_of_mine.clear(std::memory_order_release);
    // [/sample]
  });
  careful.join();
  check(guarded == 1, "one thread was there");
}

}  // namespace

int main() {
  const weft::runtime::scope runtime;
  if (weft::can_preempt(weft::preemption::own_tls))
    spins();
}
