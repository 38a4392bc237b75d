// SPDX-License-Identifier: MIT
// What a program's or library's file says of names, and of what it does without asking for a name.
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>

namespace weft::tool {

struct elf_names {
  std::set<std::string> asked; // that others have to define
  std::set<std::string> given; // that it defines for others
  unsigned futex_calls = 0;    // places in its own code that call futex(2); found on x86-64 only
};

// Nothing: it is no such file, or this tool was built without libelf.
[[nodiscard]] std::optional<elf_names> names_of(const std::filesystem::path& file);

} // namespace weft::tool
