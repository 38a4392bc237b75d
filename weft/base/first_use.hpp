// SPDX-License-Identifier: MIT
// Facts that are learned on first use, without a lock. A static of a function has one: fork() on another
// kernel thread while the first use is under way leaves it held in the child, for ever. Here two kernel
// threads may both learn the fact; one answer stays.
//
// Contexts: all in which `learn` may be called.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

namespace weft::base {

// Never destroyed: threads may still run while statics are.
template <class T>
class first_use {
 public:
  template <class Learn>
  const T& get(Learn learn) {
    // acquire: pairs with the release below, whose fact is read through the pointer
    if (const T* known = known_.load(std::memory_order_acquire))
      return *known;
    auto fresh = std::make_unique<const T>(learn());
    const T* first = nullptr;
    if (known_.compare_exchange_strong(first, fresh.get(), std::memory_order_acq_rel,
                                       std::memory_order_acquire))
      return *fresh.release();
    return *first;
  }

 private:
  std::atomic<const T*> known_{nullptr};
};

// A number, which needs no memory of its own.
class first_number {
 public:
  template <class Learn>
  std::size_t get(Learn learn) noexcept(noexcept(learn())) {
    // relaxed: every kernel thread learns the same number
    std::size_t number = known_.load(std::memory_order_relaxed);
    if (number == unknown) {
      number = learn();
      known_.store(number, std::memory_order_relaxed);
    }
    return number;
  }

 private:
  static constexpr std::size_t unknown = ~std::size_t{0};
  std::atomic<std::size_t> known_{unknown};
};

} // namespace weft::base
