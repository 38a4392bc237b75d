// SPDX-License-Identifier: MIT
// Loads that are only compared, for every backend of the seam of atomics (atomic_backend.hpp) that has no
// better way.
#pragma once

#include <atomic>

namespace weft::base::backend {

struct portable_look {
  template <class Cell, class T>
  static bool equals_relaxed(const Cell& c, T value) noexcept {
    return c.load(std::memory_order_relaxed) == value;
  }
  template <class Cell, class T>
  static bool equals_acquire(const Cell& c, T value) noexcept {
    return c.load(std::memory_order_acquire) == value;
  }
  template <class Cell, class T>
  static bool any_relaxed(const Cell& c, T mask) noexcept {
    return (c.load(std::memory_order_relaxed) & mask) != 0;
  }
};

} // namespace weft::base::backend
