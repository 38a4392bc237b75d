// SPDX-License-Identifier: MIT
// The seam of weft/base/atomic_backend.hpp for programs that count cache lines: the same names, every access
// passes through a simulated core's cache.
#pragma once

#include "tests/model/lines/cores.hpp"

#include <atomic>
#include <cstddef>
#include <utility>

#include "weft/base/portable_look.hpp"

namespace weft::base::backend {

/// Simulated cores take turns between accesses, so nothing here need be atomic.
template <class T>
class cell {
 public:
  constexpr cell(T value) noexcept : value_(value) {}
  cell(const cell&) = delete;
  cell& operator=(const cell&) = delete;

  T load(std::memory_order) const noexcept {
    lines::access(this, lines::kind::read);
    return value_;
  }
  void store(T value, std::memory_order) noexcept {
    lines::access(this, lines::kind::write);
    value_ = value;
  }
  T exchange(T value, std::memory_order) noexcept {
    lines::access(this, lines::kind::locked);
    return std::exchange(value_, value);
  }
  T fetch_add(T operand, std::memory_order order) noexcept { return change(operand, order, '+'); }
  T fetch_sub(T operand, std::memory_order order) noexcept { return change(operand, order, '-'); }
  T fetch_or(T operand, std::memory_order order) noexcept { return change(operand, order, '|'); }
  T fetch_and(T operand, std::memory_order order) noexcept { return change(operand, order, '&'); }

  bool compare_exchange_strong(T& expected, T desired, std::memory_order, std::memory_order) noexcept {
    lines::access(this, lines::kind::locked);
    if (value_ != expected) {
      expected = value_;
      return false;
    }
    value_ = desired;
    return true;
  }
  bool compare_exchange_weak(T& expected, T desired, std::memory_order a, std::memory_order b) noexcept {
    return compare_exchange_strong(expected, desired, a, b);
  }

 private:
  T change(T operand, std::memory_order, char how) noexcept {
    lines::access(this, lines::kind::locked);
    const T old = value_;
    value_ = static_cast<T>(how == '+'   ? old + operand
                            : how == '-' ? old - operand
                            : how == '|' ? old | operand
                                         : old & operand);
    return old;
  }
  T value_;
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
class plain {
 public:
  constexpr plain() noexcept : value_() {}
  constexpr plain(T value) noexcept : value_(value) {}
  plain(const plain& other) noexcept : value_(static_cast<T>(other)) {}
  plain& operator=(const plain& other) noexcept { return *this = static_cast<T>(other); }
  plain& operator=(T value) noexcept {
    lines::access(this, lines::kind::write);
    value_ = value;
    return *this;
  }
  operator T() const noexcept {
    lines::access(this, lines::kind::read);
    return value_;
  }

 private:
  T value_;
};

constexpr std::size_t scaled(std::size_t production, std::size_t) noexcept {
  return production;
}
inline void thread_fence(std::memory_order, site = {}) noexcept {}
inline void compiler_fence() noexcept {}
inline void yield_kernel_thread() noexcept {
  lines::spend(lines::costs::pause);
}

} // namespace weft::base::backend
