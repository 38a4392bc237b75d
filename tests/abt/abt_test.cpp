// SPDX-License-Identifier: MIT
#include "abt_test.hpp"

#include <chrono>
#include <thread>

namespace abt_test {

void in_kernel_thread(body f) {
  std::atomic<bool> done = false;
  std::thread other([&] {
    f();
    done = true;
  });
  while (!done)
    ABT_thread_yield();
  other.join();
}

void yield_until(const std::function<bool()>& done) {
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!done()) {
    ASSERT_LT(std::chrono::steady_clock::now(), give_up) << "what was waited for never came";
    ABT_thread_yield();
  }
}

} // namespace abt_test
