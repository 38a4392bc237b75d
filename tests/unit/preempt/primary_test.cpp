// SPDX-License-Identifier: MIT
// The primary thread stays on its kernel thread, wherever its worker goes.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>

#include "tests/unit/preempt/fixture.hpp"
#include "weft/os/kernel_thread.hpp"
#include "weft/semaphore.hpp"
#include "weft/thread.hpp"

namespace weft::test {
namespace {

// A thread that main() has called, on its stack, ends on another worker, which main() then leaves to go back
// to its own. That one leaves home meanwhile, for threads that keep the kernel thread on which they are
// preempted: it must not take for main()'s a context that is half saved.
TEST(primary_thread, goes_back_while_its_worker_leaves_home) {
  if (!can_preempt(preemption::own_kernel_thread))
    GTEST_SKIP() << "not on this machine";
  const int home = os::this_kernel_thread_id();
  ticked_runtime runtime;
  runtime.start(sched::arrangement::pool_per_worker, 2, std::chrono::microseconds(200));
  pool& elsewhere = main_pool_of(1);
  std::atomic<bool> over = false;
  thread looks_at_once([&] { // so the other worker does not sleep
    this_thread::migrate_to(elsewhere);
    while (!over)
      this_thread::yield();
  });
  thread_attributes own;
  own.preemption = preemption::own_kernel_thread;
  // Seconds where CPUs are free; with others' threads in each CPU's queue a turn may take 10 ms.
  constexpr unsigned turns = 40'000;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  for (unsigned turn = 0; turn < turns && std::chrono::steady_clock::now() < end; ++turn) {
    thread called([&, pause = turn * 7919 % 32768] {
      this_thread::migrate_to(elsewhere);
      for (unsigned i = 0; i < pause; ++i)
        asm volatile("");
    });
    thread leaves_home(own, [] {});
    called.join();
    leaves_home.join();
    while (os::this_kernel_thread_id() != home)
      this_thread::sleep_for(std::chrono::microseconds(1)); // its worker's loop brings it there
  }
  over = true;
  looks_at_once.join();
  runtime.stop();
}

} // namespace
} // namespace weft::test
