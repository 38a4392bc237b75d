// SPDX-License-Identifier: MIT
// Which unit a user-defined pool means by a name (ABT_unit). A unit has room for one name; while it moves
// between two such pools it has more, which are allocated.
#pragma once

#include <atomic>

#include "front/abt/abt.h"
#include "weft/door/unit.hpp"

namespace weft::abt {

// A name in the table. Ownership: of whoever has made it `taken`, until it stands in the table; then of the
// lock there.
struct unit_name {
  unit_name* next = nullptr;
  ABT_unit name = nullptr;
  door::descriptor* unit = nullptr;
  std::atomic<bool> taken{false};
  bool allocated = false;
};

// Two names of one unit may be equal, where two pools call it so, and stand twice. `own`: the room for one.
// Contexts: in the runtime. Switches: never. Errors: std::bad_alloc.
void remember(ABT_unit name, door::descriptor& u, unit_name& own);
// Once, if it stands twice. Errors: none.
void forget(ABT_unit name) noexcept;
// Null: nobody's name. Errors: none.
door::descriptor* unit_named(ABT_unit name) noexcept;

} // namespace weft::abt
