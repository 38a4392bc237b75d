// SPDX-License-Identifier: MIT
// What a mutex is to be made like.
#pragma once

#include "front/abt/object.hpp"

namespace weft::abt {

struct mutex_attr : object {
  static constexpr kind own_kind = kind::mutex_attr;
  explicit mutex_attr(bool r) noexcept : object(own_kind), recursive(r) {}

  bool recursive;
};

} // namespace weft::abt
