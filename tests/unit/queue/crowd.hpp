// SPDX-License-Identifier: MIT
// For the stress tests of this folder: a printed seed, threads that start together, items that count their
// takers.
#pragma once

#include "weft/queue/link.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace weft::queue::test {

/// From WEFT_TEST_SEED if set, so that a failure can be repeated; printed with the failure.
inline unsigned seed() {
  const char* const fixed = std::getenv("WEFT_TEST_SEED");
  return fixed != nullptr ? static_cast<unsigned>(std::strtoul(fixed, nullptr, 10)) : std::random_device{}();
}

struct item : link {
  std::atomic<int> taken = 0;
  unsigned producer = 0;
  unsigned number = 0;
};

inline item* as_item(link* of) {
  return static_cast<item*>(of);
}

/// Each item must have been taken exactly once; returns the number that was not.
inline std::size_t wrong(const std::vector<item>& items) {
  std::size_t count = 0;
  for (const item& each : items) {
    count += each.taken.load() == 1 ? 0 : 1;
  }
  return count;
}

/// Runs body(0) .. body(count - 1), each on a kernel thread of its own, from one start.
inline void crowd(unsigned count, const std::function<void(unsigned)>& body) {
  std::atomic<bool> go = false;
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < count; ++i) {
    threads.emplace_back([&, i] {
      while (!go.load()) {
        std::this_thread::yield();
      }
      body(i);
    });
  }
  go = true;
  for (std::thread& each : threads) {
    each.join();
  }
}

} // namespace weft::queue::test
