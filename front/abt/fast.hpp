// SPDX-License-Identifier: MIT
// What the door's fast paths (weft/door/unit_fast.hpp) ask of this front. What they do not do goes to the
// slow twins in thread.cpp.
#pragma once

#include "front/abt/tool.hpp"
#include "front/abt/unit.hpp"
#include "weft/door/unit_fast.hpp"

namespace weft::abt {

struct fast_front {
  using more = unit_info;
  static constexpr const door::operations& thread = ult_operations;
  static constexpr const door::operations& tasklet = tasklet_operations;
  static constexpr const door::operations& gone = freed_operations;
  static void settle_end(descriptor& u) noexcept { abt::settle_end(u); }
  static void free_ended(descriptor& u) noexcept { free_ended_unit(u); }
};
using fast = door::fast_units<fast_front>;

} // namespace weft::abt
