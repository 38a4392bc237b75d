// SPDX-License-Identifier: MIT
// The names of what units were given to run.
#pragma once

#include <map>
#include <string>

#include "tools/weft/layout.hpp"
#include "tools/weft/target.hpp"

namespace weft::tool {

class functions {
 public:
  functions(target& of, const layout& table) : target_(of), table_(table) {}

  // Of the unit at `unit`. A lambda is called by its type, what is given with arguments by itself.
  const std::string& of(address unit, address operations);

 private:
  address pointer(address object, const char* field);
  std::string named_by(address operations);

  target& target_;
  const layout& table_;
  std::map<address, std::string> names_; // by operations, or by the function's own address
};

} // namespace weft::tool
