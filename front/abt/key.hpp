// SPDX-License-Identifier: MIT
// Work-unit local values: few a unit, so a short vector that is searched. A key is known in the units by its
// address and a serial number, since keys may be freed while units hold values; their destructors still run.
#pragma once

#include <cstdint>

#include "front/abt/object.hpp"
#include "front/abt/unit.hpp"

namespace weft::abt {

struct key : object {
  static constexpr kind own_kind = kind::key;
  explicit key(void (*d)(void*)) noexcept;

  void (*const destructor)(void*);
  const std::uint64_t serial;
};

// Errors: std::bad_alloc.
void set_value(descriptor& u, const key& k, void* value);
[[nodiscard]] void* value_of(const descriptor& u, const key& k) noexcept;
// Calls the destructor of each value that is not null, and forgets all.
void run_destructors(unit_info& info) noexcept;

} // namespace weft::abt
