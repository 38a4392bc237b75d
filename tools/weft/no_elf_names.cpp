// SPDX-License-Identifier: MIT
// Without libelf nothing is known of names.
#include "tools/weft/elf_names.hpp"

namespace weft::tool {

std::optional<elf_names> names_of(const std::filesystem::path& /*file*/) {
  return {};
}

} // namespace weft::tool
