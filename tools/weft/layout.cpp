// SPDX-License-Identifier: MIT
#include "tools/weft/layout.hpp"

#include <cstring>

#include "weft/view/inspection.hpp"

namespace weft::tool {
namespace {

constexpr std::uint64_t known_version = 1;
constexpr std::size_t most_entries = 1000; // more are no table

} // namespace

layout::layout(target& of) {
  const address table = of.symbol("weft_debug_layout");
  if (table == 0)
    throw failure("no Weft in this process, or its symbols were stripped (weft_debug_layout is not there)");
  for (std::size_t i = 0; i < most_entries; ++i) {
    const auto e = of.get<weft_debug_entry>(table + i * sizeof(weft_debug_entry));
    if (!e || e->name[0] == '\0')
      break;
    const std::string name(e->name, strnlen(e->name, sizeof e->name));
    entries_[name] = {e->number, reinterpret_cast<address>(e->address)};
    if (const std::size_t colon = name.find(':'); colon != std::string::npos)
      names_[{name.substr(0, colon), e->number}] = name.substr(colon + 1);
  }
  if (const std::uint64_t version = number("version"); version != known_version) {
    throw failure("this program knows version " + std::to_string(known_version) +
                  " of Weft's tables, the process has version " + std::to_string(version));
  }
}

std::uint64_t layout::number(const char* name) const {
  const auto found = entries_.find(name);
  if (found == entries_.end())
    throw failure(std::string("weft_debug_layout has no entry ") + name);
  return found->second.number;
}

address layout::root(const char* name) const {
  const auto found = entries_.find(name);
  if (found == entries_.end())
    throw failure(std::string("weft_debug_layout has no entry ") + name);
  return found->second.at;
}

std::string layout::name_of(const std::string& group, std::uint64_t number) const {
  const auto found = names_.find({group, number});
  return found == names_.end() ? std::string() : found->second;
}

} // namespace weft::tool
