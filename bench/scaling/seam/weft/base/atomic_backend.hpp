// SPDX-License-Identifier: MIT
// The seam of weft/base/atomic_backend.hpp for bench/scaling: the same names and sizes over the same
// std::atomic, every access told to the model of caches first (bench/scaling/lines.hpp).
#pragma once

#include "bench/scaling/lines.hpp"

#include <atomic>
#include <cstddef>
#include <sched.h>

#include "weft/base/portable_look.hpp"

namespace weft::base::backend {

template <class T>
class cell {
  using order = std::memory_order;

 public:
  constexpr cell(T value) noexcept : value_(value) {}
  cell(const cell&) = delete;
  cell& operator=(const cell&) = delete;

  T load(order o) const noexcept {
    scaling::access(&value_, scaling::kind::load);
    return value_.load(o);
  }
  void store(T value, order o) noexcept {
    scaling::access(&value_, scaling::kind::store);
    value_.store(value, o);
  }
  T exchange(T value, order o) noexcept { return changed().exchange(value, o); }
  T fetch_add(T operand, order o) noexcept { return changed().fetch_add(operand, o); }
  T fetch_sub(T operand, order o) noexcept { return changed().fetch_sub(operand, o); }
  T fetch_or(T operand, order o) noexcept { return changed().fetch_or(operand, o); }
  T fetch_and(T operand, order o) noexcept { return changed().fetch_and(operand, o); }
  T fetch_xor(T operand, order o) noexcept { return changed().fetch_xor(operand, o); }
  bool compare_exchange_strong(T& expected, T desired, order good, order bad) noexcept {
    return changed().compare_exchange_strong(expected, desired, good, bad);
  }
  bool compare_exchange_weak(T& expected, T desired, order good, order bad) noexcept {
    return changed().compare_exchange_weak(expected, desired, good, bad);
  }

 private:
  std::atomic<T>& changed() noexcept {
    scaling::access(&value_, scaling::kind::change);
    return value_;
  }
  std::atomic<T> value_;
};

struct site {
  static constexpr site current() noexcept { return {}; }
};
template <class T>
constexpr T& marked(T& c, site) noexcept {
  return c;
}

using look = portable_look;

template <class T>
using plain = T;

constexpr std::size_t scaled(std::size_t production, std::size_t) noexcept {
  return production;
}
inline void thread_fence(std::memory_order order, site = {}) noexcept {
  std::atomic_thread_fence(order);
}
inline void compiler_fence() noexcept {
  std::atomic_signal_fence(std::memory_order_seq_cst);
}
inline void yield_kernel_thread() noexcept {
  ::sched_yield();
}

} // namespace weft::base::backend
