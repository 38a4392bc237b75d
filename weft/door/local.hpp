// SPDX-License-Identifier: MIT
// Values that a unit has of its own, by keys made at run time. They are few a unit, so a short vector that is
// searched. Keys may be freed while units hold values; the destructors of these still run.
#pragma once

#include "weft/door/atomic.hpp"

#include <cstdint>
#include <mutex>
#include <vector>

namespace weft::door {

/// No two keys of a process have one serial number, wherever they lie.
struct local_key {
  explicit local_key(void (*d)(void*)) noexcept : destructor(d), serial(next_serial()) {}

  void (*const destructor)(void*); // null: none
  const std::uint64_t serial;

 private:
  WEFT_API static std::uint64_t next_serial() noexcept;
};

/// *Ownership*: `lock_` guards the values: others than the unit may ask for them. *Contexts*: in the runtime;
/// all but signal handlers. *Switches*: never, unless destructors do. *Errors*: none but where it says so.
class local_values {
 public:
  /// *Errors*: std::bad_alloc; nothing has changed then.
  void set(const local_key& k, void* data) {
    const std::scoped_lock held(lock_);
    if (value* v = find(k)) {
      v->data = data;
    } else {
      values_.push_back({k.serial, k.destructor, data});
    }
  }
  /// Null: none was set.
  [[nodiscard]] void* get(const local_key& k) noexcept {
    const std::scoped_lock held(lock_);
    const value* v = find(k);
    return v != nullptr ? v->data : nullptr;
  }
  /// Whether none is set.
  [[nodiscard]] bool empty() noexcept {
    const std::scoped_lock held(lock_);
    return values_.empty();
  }
  /// Forgets all, and calls the destructor of each that is not null. What destructors set is kept: it is for
  /// the front to call again, as often as its interface says.
  void run_destructors() noexcept {
    std::vector<value> values;
    {
      const std::scoped_lock held(lock_);
      values.swap(values_);
    }
    for (const value& v : values) {
      if (v.destructor != nullptr && v.data != nullptr)
        v.destructor(v.data);
    }
  }

 private:
  struct value {
    std::uint64_t serial;
    void (*destructor)(void*);
    void* data;
  };
  value* find(const local_key& k) noexcept {
    for (value& v : values_) {
      if (v.serial == k.serial)
        return &v;
    }
    return nullptr;
  }

  spin_lock lock_;
  std::vector<value> values_;
};

} // namespace weft::door
