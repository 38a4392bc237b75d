// SPDX-License-Identifier: MIT
// Samples of docs/guide/foreign-threads.md.
#include <weft/weft.hpp>

#include <chrono>
#include <mutex>
#include <thread>

#include "tests/samples/check.hpp"

using samples::check;
using namespace std::chrono_literals;

namespace {

void both_kinds() {
  // [sample foreign]
  weft::mutex lock;
  int sum = 0;
  const auto add = [&] {
    std::scoped_lock held(lock);
    ++sum;
  };
  weft::latch done(1);
  std::thread kernel_thread([&] {
    weft::thread light(add);  // created from outside, runs on a worker
    add();                    // if the lock is taken, the kernel thread blocks on a futex
    light.join();
    done.count_down();
  });
  done.wait();           // frees the worker for `light`
  kernel_thread.join();  // would block the worker; nothing is left to wait for
  // [/sample]
  check(sum == 2, "both added");
}

void hand_over() {
  int received = 0;
  // [sample foreign-wait]
  weft::promise<int> answer;
  std::thread library_thread([&] {
    std::this_thread::sleep_for(1ms);
    answer.set_value(42);  // makes the waiting thread ready and wakes a worker if need be
  });
  weft::thread waiting([&] { received = answer.get_future().get(); });
  waiting.join();
  library_thread.join();
  // [/sample]
  check(received == 42, "the value arrived");
}

} // namespace

int main() {
  both_kinds();
  hand_over();
}
