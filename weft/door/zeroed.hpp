// SPDX-License-Identifier: MIT
// Objects in memory that a program gives and nobody constructs: PTHREAD_MUTEX_INITIALIZER and its like, all
// of whose bytes are zero. lock_word (mutex.hpp) and condition (condition.hpp) are valid so as they are.
#pragma once

#include "weft/base/atomic.hpp"

#include <cstddef>
#include <cstdint>
#include <new>

namespace weft::door {

/// A T in memory that starts as zeros and is aligned at 4 bytes only: it lies at the first place that suits
/// it and is made when it is first needed. Never destroyed: such memory just ends. *Ownership*: a lock of the
/// user's guards get() and what it returns. *Contexts*: any. *Switches*: never. *Errors*: those of T's
/// constructor.
template <class T>
class zeroed {
  static_assert(alignof(T) <= 8);

 public:
  T& get() {
    if (built_.load_relaxed() == 0) { // relaxed: the lock orders it
      ::new (place()) T;
      built_.store_release(1); // (Z1) release: publishes the T; pairs with (Z2)
    }
    return *static_cast<T*>(place());
  }
  /// Without the lock: the T, or null if there is none yet.
  T* look() noexcept {
    return built_.load_acquire() != 0 ? static_cast<T*>(place()) : nullptr; // (Z2) acquire: pairs with (Z1)
  }

 private:
  void* place() noexcept {
    const auto first = reinterpret_cast<std::uintptr_t>(room_);
    return reinterpret_cast<std::byte*>(room_) + (alignof(T) - first % alignof(T)) % alignof(T);
  }

  base::atomic<std::uint32_t> built_;
  std::uint32_t room_[(sizeof(T) + alignof(T)) / 4 - 1];
};

} // namespace weft::door
