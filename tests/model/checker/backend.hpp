// SPDX-License-Identifier: MIT
// What the seam calls: operations on locations, named by their address so that a modelled atomic or plain
// variable has the size and layout of the real one.
#pragma once

#include "tests/model/checker/memory.hpp"

#include <atomic>
#include <cstring>
#include <type_traits>

namespace weft::model {

/// Whether the calling code runs inside an execution; outside, cells behave as bare values.
bool active() noexcept;

void on_construct(const void* address, word initial) noexcept;
word on_load(const void* address, word bare, std::memory_order order) noexcept;
void on_store(const void* address, word bare, word value, std::memory_order order) noexcept;
/// The old value; what is stored is returned in `bare`.
word on_rmw(const void* address, word& bare, rmw_op op, word operand, word mask,
            std::memory_order order) noexcept;

struct cas_request {
  word expected;
  word desired;
  std::memory_order success;
  std::memory_order failure;
  bool weak;
};
bool on_cas(const void* address, word bare, cas_request& request) noexcept;

void on_fence(std::memory_order order) noexcept;
void on_heavy_fence() noexcept;
void on_relax() noexcept;

void on_plain_construct(const void* address) noexcept;
void on_plain_read(const void* address) noexcept;
void on_plain_write(const void* address) noexcept;

template <class T>
word to_word(T value) noexcept {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(word));
  word bytes = 0;
  std::memcpy(&bytes, &value, sizeof(T));
  return bytes;
}

template <class T>
T from_word(word bytes) noexcept {
  T value;
  std::memcpy(&value, &bytes, sizeof(T));
  return value;
}

/// Stands in for std::atomic<T>.
template <class T>
class cell {
 public:
  constexpr cell(T value) noexcept : value_(value) {
    if (!std::is_constant_evaluated()) {
      on_construct(this, to_word(value));
    }
  }
  cell(const cell&) = delete;
  cell& operator=(const cell&) = delete;

  T load(std::memory_order order) const noexcept {
    return active() ? from_word<T>(on_load(this, to_word(value_), order)) : value_;
  }

  void store(T value, std::memory_order order) noexcept {
    if (active()) {
      on_store(this, to_word(value_), to_word(value), order);
    }
    value_ = value;
  }

  T exchange(T value, std::memory_order order) noexcept { return rmw(rmw_op::exchange, value, order); }
  T fetch_add(T operand, std::memory_order order) noexcept { return rmw(rmw_op::add, operand, order); }
  T fetch_sub(T operand, std::memory_order order) noexcept { return rmw(rmw_op::subtract, operand, order); }
  T fetch_or(T operand, std::memory_order order) noexcept { return rmw(rmw_op::bit_or, operand, order); }
  T fetch_and(T operand, std::memory_order order) noexcept { return rmw(rmw_op::bit_and, operand, order); }
  T fetch_xor(T operand, std::memory_order order) noexcept { return rmw(rmw_op::bit_xor, operand, order); }

  bool compare_exchange_strong(T& expected, T desired, std::memory_order success,
                               std::memory_order failure) noexcept {
    return cas(expected, {to_word(expected), to_word(desired), success, failure, false});
  }
  bool compare_exchange_weak(T& expected, T desired, std::memory_order success,
                             std::memory_order failure) noexcept {
    return cas(expected, {to_word(expected), to_word(desired), success, failure, true});
  }

 private:
  T rmw(rmw_op op, T operand, std::memory_order order) noexcept {
    constexpr word mask =
        sizeof(T) == sizeof(word) ? ~word{0} : (word{1} << 8 * (sizeof(T) % sizeof(word))) - 1;
    word bare = to_word(value_);
    word old = bare;
    if (active()) {
      old = on_rmw(this, bare, op, to_word(operand), mask, order);
    } else {
      bare = apply(op, bare, to_word(operand), mask);
    }
    value_ = from_word<T>(bare);
    return from_word<T>(old);
  }

  bool cas(T& expected, cas_request request) noexcept {
    bool done = to_word(value_) == request.expected;
    if (active()) {
      done = on_cas(this, to_word(value_), request);
    } else if (!done) {
      request.expected = to_word(value_);
    }
    if (done) {
      value_ = from_word<T>(request.desired);
    } else {
      expected = from_word<T>(request.expected);
    }
    return done;
  }

  T value_; // the newest store; the histories are the checker's
};

/// A plain variable whose unsynchronised use is a failure.
template <class T>
class var {
 public:
  constexpr var() noexcept : value_() { construct(); }
  constexpr var(T value) noexcept : value_(value) { construct(); }
  constexpr var(const var& other) noexcept : value_(static_cast<T>(other)) { construct(); }
  var& operator=(const var& other) noexcept { return *this = static_cast<T>(other); }

  var& operator=(T value) noexcept {
    on_plain_write(this);
    value_ = value;
    return *this;
  }

  constexpr operator T() const noexcept {
    if (!std::is_constant_evaluated()) {
      on_plain_read(this);
    }
    return value_;
  }

  T operator->() const noexcept
    requires std::is_pointer_v<T>
  {
    return static_cast<T>(*this);
  }

  var& operator+=(T other) noexcept { return *this = static_cast<T>(static_cast<T>(*this) + other); }
  var& operator-=(T other) noexcept { return *this = static_cast<T>(static_cast<T>(*this) - other); }
  var& operator++() noexcept { return *this += 1; }
  var& operator--() noexcept { return *this -= 1; }

 private:
  constexpr void construct() noexcept {
    if (!std::is_constant_evaluated()) {
      on_plain_construct(this);
    }
  }
  T value_;
};

} // namespace weft::model
