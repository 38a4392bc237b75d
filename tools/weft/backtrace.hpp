// SPDX-License-Identifier: MIT
// The calls of a unit, by libdw, from where it was left or, if it runs, from its kernel thread's registers.
#pragma once

#include <string>
#include <vector>

#include "tools/weft/units.hpp"

namespace weft::tool {

struct frame {
  address pc = 0;
  place at;
};

class unwinder {
 public:
  // Errors: failure, if libdw refuses. One a target.
  unwinder(target& of, const layout& table, const process_units& units);
  unwinder(const unwinder&) = delete;
  unwinder& operator=(const unwinder&) = delete;

  // Innermost first, without the base of every thread; empty if the unit has no stack or runs on a CPU that
  // this program does not know. `most`: frames. `complete`: whether the walk came to that base.
  std::vector<frame> walk(std::size_t unit, std::size_t most, bool& complete);

 private:
  struct starts; // registers

  target& target_;
  const layout& table_;
  const process_units& units_;
};

} // namespace weft::tool
