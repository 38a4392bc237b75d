// SPDX-License-Identifier: MIT
// wakeup of a kernel thread that waits on a condition variable.
#include <condition_variable>
#include <mutex>

#include "bench/wakeup/condition.hpp"

int main(int argc, char** argv) {
  return weft::bench::wakeup::run_with_condition<std::mutex, std::condition_variable>(argc, argv);
}
