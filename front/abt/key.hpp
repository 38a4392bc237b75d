// SPDX-License-Identifier: MIT
// Work-unit local values: the door's, which a unit's info holds.
#pragma once

#include "front/abt/object.hpp"
#include "front/abt/unit.hpp"
#include "weft/door/local.hpp"

namespace weft::abt {

struct key : object, door::local_key {
  static constexpr kind own_kind = kind::key;
  explicit key(void (*d)(void*)) noexcept : object(own_kind), local_key(d) {}
};

// Errors: std::bad_alloc.
void set_value(descriptor& u, const key& k, void* value);
[[nodiscard]] void* value_of(const descriptor& u, const key& k) noexcept;

} // namespace weft::abt
