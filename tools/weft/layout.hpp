// SPDX-License-Identifier: MIT
// The table weft_debug_layout of a process (weft/view/inspection.hpp), read from outside.
#pragma once

#include <map>
#include <string>

#include "tools/weft/target.hpp"

namespace weft::tool {

class layout {
 public:
  // Errors: failure: the process has no Weft, or one of another version.
  explicit layout(target& of);

  // An offset, a size or a mask. Errors: failure, if the table has no such name.
  [[nodiscard]] std::uint64_t number(const char* name) const;
  // A variable. Errors: as number().
  [[nodiscard]] address root(const char* name) const;
  // "blocked" of the names "state:...": empty if there is no such number.
  [[nodiscard]] std::string name_of(const std::string& group, std::uint64_t number) const;

 private:
  struct entry {
    std::uint64_t number;
    address at;
  };
  std::map<std::string, entry, std::less<>> entries_;
  std::map<std::pair<std::string, std::uint64_t>, std::string> names_;
};

} // namespace weft::tool
