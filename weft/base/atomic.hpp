// SPDX-License-Identifier: MIT
// weft::base::atomic<T>: std::atomic with the memory order in the name of each operation, so that none is
// implied and `grep` lists them all. Costs nothing over std::atomic. The backend seam replaces it under the
// checker.
#pragma once

#include "weft/base/atomic_backend.hpp"
#include "weft/base/fence.hpp"

#include <concepts>

namespace weft::base {

/// A data member or variable that is plain in production, and checked for data races by the model tests.
template <class T>
using plain = backend::plain<T>;

/// What arithmetic and bit operations are defined for.
template <class T>
concept counting = std::integral<T> && !std::same_as<T, bool>;

/// An atomic T. Each name is an operation of std::atomic followed by its order. A compare-and-swap that
/// fails loads with the acquire part of its order and writes what it found into `expected`. *Contexts*:
/// any, also signal handlers (all instances are lock-free). *Switches*: never. *Errors*: none.
template <class T>
class atomic {
  static constexpr auto relaxed_order = std::memory_order_relaxed;
  static constexpr auto acquire_order = std::memory_order_acquire;
  static constexpr auto release_order = std::memory_order_release;
  static constexpr auto acq_rel_order = std::memory_order_acq_rel;
  static constexpr auto seq_cst_order = std::memory_order_seq_cst;
  // Where the caller stands, for the model tests: nothing in production.
  using site = backend::site;

 public:
  constexpr atomic() noexcept : cell_(T{}) {}
  constexpr explicit(false) atomic(T value) noexcept : cell_(value) {}
  atomic(const atomic&) = delete;
  atomic& operator=(const atomic&) = delete;

  T load_relaxed(site at = site::current()) const noexcept {
    return backend::marked(cell_, at).load(relaxed_order);
  }
  T load_acquire(site at = site::current()) const noexcept {
    return backend::marked(cell_, at).load(acquire_order);
  }
  T load_seq_cst(site at = site::current()) const noexcept {
    return backend::marked(cell_, at).load(seq_cst_order);
  }

  /// Loads that are only compared: one instruction where the CPU has it.
  bool equals_relaxed(T value, site at = site::current()) const noexcept {
    return backend::look::equals_relaxed(backend::marked(cell_, at), value);
  }
  bool equals_acquire(T value, site at = site::current()) const noexcept {
    return backend::look::equals_acquire(backend::marked(cell_, at), value);
  }
  /// Whether any bit of `mask` is set.
  bool any_relaxed(T mask, site at = site::current()) const noexcept
    requires counting<T>
  {
    return backend::look::any_relaxed(backend::marked(cell_, at), mask);
  }

  void store_relaxed(T value, site at = site::current()) noexcept {
    backend::marked(cell_, at).store(value, relaxed_order);
  }
  void store_release(T value, site at = site::current()) noexcept {
    backend::marked(cell_, at).store(value, release_order);
  }
  void store_seq_cst(T value, site at = site::current()) noexcept {
    backend::marked(cell_, at).store(value, seq_cst_order);
  }

  T exchange_relaxed(T value, site at = site::current()) noexcept {
    return backend::marked(cell_, at).exchange(value, relaxed_order);
  }
  T exchange_acquire(T value, site at = site::current()) noexcept {
    return backend::marked(cell_, at).exchange(value, acquire_order);
  }
  T exchange_release(T value, site at = site::current()) noexcept {
    return backend::marked(cell_, at).exchange(value, release_order);
  }
  T exchange_acq_rel(T value, site at = site::current()) noexcept {
    return backend::marked(cell_, at).exchange(value, acq_rel_order);
  }
  T exchange_seq_cst(T value, site at = site::current()) noexcept {
    return backend::marked(cell_, at).exchange(value, seq_cst_order);
  }

  bool cas_strong_relaxed(T& expected, T desired, site at = site::current()) noexcept {
    return backend::marked(cell_, at).compare_exchange_strong(expected, desired, relaxed_order,
                                                              relaxed_order);
  }
  bool cas_strong_acquire(T& expected, T desired, site at = site::current()) noexcept {
    return backend::marked(cell_, at).compare_exchange_strong(expected, desired, acquire_order,
                                                              acquire_order);
  }
  bool cas_strong_release(T& expected, T desired, site at = site::current()) noexcept {
    return backend::marked(cell_, at).compare_exchange_strong(expected, desired, release_order,
                                                              relaxed_order);
  }
  bool cas_strong_acq_rel(T& expected, T desired, site at = site::current()) noexcept {
    return backend::marked(cell_, at).compare_exchange_strong(expected, desired, acq_rel_order,
                                                              acquire_order);
  }
  bool cas_strong_seq_cst(T& expected, T desired, site at = site::current()) noexcept {
    return backend::marked(cell_, at).compare_exchange_strong(expected, desired, seq_cst_order,
                                                              seq_cst_order);
  }

  bool cas_weak_relaxed(T& expected, T desired, site at = site::current()) noexcept {
    return backend::marked(cell_, at).compare_exchange_weak(expected, desired, relaxed_order, relaxed_order);
  }
  bool cas_weak_acquire(T& expected, T desired, site at = site::current()) noexcept {
    return backend::marked(cell_, at).compare_exchange_weak(expected, desired, acquire_order, acquire_order);
  }
  bool cas_weak_release(T& expected, T desired, site at = site::current()) noexcept {
    return backend::marked(cell_, at).compare_exchange_weak(expected, desired, release_order, relaxed_order);
  }
  bool cas_weak_acq_rel(T& expected, T desired, site at = site::current()) noexcept {
    return backend::marked(cell_, at).compare_exchange_weak(expected, desired, acq_rel_order, acquire_order);
  }
  bool cas_weak_seq_cst(T& expected, T desired, site at = site::current()) noexcept {
    return backend::marked(cell_, at).compare_exchange_weak(expected, desired, seq_cst_order, seq_cst_order);
  }

  T fetch_add_relaxed(T operand, site at = site::current()) noexcept
    requires counting<T>
  {
    return backend::marked(cell_, at).fetch_add(operand, relaxed_order);
  }
  T fetch_add_acquire(T operand, site at = site::current()) noexcept
    requires counting<T>
  {
    return backend::marked(cell_, at).fetch_add(operand, acquire_order);
  }
  T fetch_add_release(T operand, site at = site::current()) noexcept
    requires counting<T>
  {
    return backend::marked(cell_, at).fetch_add(operand, release_order);
  }
  T fetch_add_acq_rel(T operand, site at = site::current()) noexcept
    requires counting<T>
  {
    return backend::marked(cell_, at).fetch_add(operand, acq_rel_order);
  }
  T fetch_add_seq_cst(T operand, site at = site::current()) noexcept
    requires counting<T>
  {
    return backend::marked(cell_, at).fetch_add(operand, seq_cst_order);
  }

  T fetch_sub_relaxed(T operand, site at = site::current()) noexcept
    requires counting<T>
  {
    return backend::marked(cell_, at).fetch_sub(operand, relaxed_order);
  }
  T fetch_sub_acquire(T operand, site at = site::current()) noexcept
    requires counting<T>
  {
    return backend::marked(cell_, at).fetch_sub(operand, acquire_order);
  }
  T fetch_sub_release(T operand, site at = site::current()) noexcept
    requires counting<T>
  {
    return backend::marked(cell_, at).fetch_sub(operand, release_order);
  }
  T fetch_sub_acq_rel(T operand, site at = site::current()) noexcept
    requires counting<T>
  {
    return backend::marked(cell_, at).fetch_sub(operand, acq_rel_order);
  }
  T fetch_sub_seq_cst(T operand, site at = site::current()) noexcept
    requires counting<T>
  {
    return backend::marked(cell_, at).fetch_sub(operand, seq_cst_order);
  }

  T fetch_or_relaxed(T operand, site at = site::current()) noexcept
    requires counting<T>
  {
    return backend::marked(cell_, at).fetch_or(operand, relaxed_order);
  }
  T fetch_or_acquire(T operand, site at = site::current()) noexcept
    requires counting<T>
  {
    return backend::marked(cell_, at).fetch_or(operand, acquire_order);
  }
  T fetch_or_release(T operand, site at = site::current()) noexcept
    requires counting<T>
  {
    return backend::marked(cell_, at).fetch_or(operand, release_order);
  }
  T fetch_or_acq_rel(T operand, site at = site::current()) noexcept
    requires counting<T>
  {
    return backend::marked(cell_, at).fetch_or(operand, acq_rel_order);
  }
  T fetch_or_seq_cst(T operand, site at = site::current()) noexcept
    requires counting<T>
  {
    return backend::marked(cell_, at).fetch_or(operand, seq_cst_order);
  }

  T fetch_and_relaxed(T operand, site at = site::current()) noexcept
    requires counting<T>
  {
    return backend::marked(cell_, at).fetch_and(operand, relaxed_order);
  }
  T fetch_and_acquire(T operand, site at = site::current()) noexcept
    requires counting<T>
  {
    return backend::marked(cell_, at).fetch_and(operand, acquire_order);
  }
  T fetch_and_release(T operand, site at = site::current()) noexcept
    requires counting<T>
  {
    return backend::marked(cell_, at).fetch_and(operand, release_order);
  }
  T fetch_and_acq_rel(T operand, site at = site::current()) noexcept
    requires counting<T>
  {
    return backend::marked(cell_, at).fetch_and(operand, acq_rel_order);
  }
  T fetch_and_seq_cst(T operand, site at = site::current()) noexcept
    requires counting<T>
  {
    return backend::marked(cell_, at).fetch_and(operand, seq_cst_order);
  }

  T fetch_xor_relaxed(T operand, site at = site::current()) noexcept
    requires counting<T>
  {
    return backend::marked(cell_, at).fetch_xor(operand, relaxed_order);
  }
  T fetch_xor_acquire(T operand, site at = site::current()) noexcept
    requires counting<T>
  {
    return backend::marked(cell_, at).fetch_xor(operand, acquire_order);
  }
  T fetch_xor_release(T operand, site at = site::current()) noexcept
    requires counting<T>
  {
    return backend::marked(cell_, at).fetch_xor(operand, release_order);
  }
  T fetch_xor_acq_rel(T operand, site at = site::current()) noexcept
    requires counting<T>
  {
    return backend::marked(cell_, at).fetch_xor(operand, acq_rel_order);
  }
  T fetch_xor_seq_cst(T operand, site at = site::current()) noexcept
    requires counting<T>
  {
    return backend::marked(cell_, at).fetch_xor(operand, seq_cst_order);
  }

 private:
  backend::cell<T> cell_;
};

} // namespace weft::base
