// SPDX-License-Identifier: MIT
#include "tools/weft/functions.hpp"

#include <string_view>

namespace weft::tool {
namespace {

// The first argument of a template, of which "name<" has been cut off.
std::string_view first_argument(std::string_view text) {
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '<' || c == '(' || c == '{')
      ++depth;
    if ((c == ',' || c == '>') && depth == 0)
      return text.substr(0, i);
    if (c == '>' || c == ')' || c == '}')
      --depth;
  }
  return text;
}

// Of "... [with Callable = type]" the type; of a callable with arguments (weft/base/bind_call.hpp) its own.
std::string callable_in(std::string_view label) {
  constexpr std::string_view mark = "Callable = ";
  constexpr std::string_view bound = "weft::base::bound_call<";
  const std::size_t at = label.find(mark);
  if (at == label.npos)
    return std::string(label);
  label.remove_prefix(at + mark.size());
  label = label.substr(0, label.rfind(']'));
  return std::string(label.substr(0, bound.size()) == bound ? first_argument(label.substr(bound.size()))
                                                            : label);
}

} // namespace

const std::string& functions::of(address unit, address operations) {
  const std::uint64_t own = pointer(operations, "operations.name_at");
  const address function = own != 0 ? target_.get<address>(unit + own).value_or(0) : 0;
  if (function != 0) {
    auto [place, fresh] = names_.try_emplace(function);
    if (fresh)
      place->second = target_.describe(function, false).function;
    if (!place->second.empty())
      return place->second;
  }
  auto [place, fresh] = names_.try_emplace(operations);
  if (fresh)
    place->second = named_by(operations);
  return place->second;
}

address functions::pointer(address object, const char* field) {
  return object == 0 ? 0 : target_.get<address>(object + table_.number(field)).value_or(0);
}

std::string functions::named_by(address operations) {
  const std::string label = target_.text(pointer(operations, "operations.label"), 1024);
  if (!label.empty())
    return callable_in(label);
  for (const char* field : {"operations.name", "operations.run"}) {
    if (const address at = pointer(operations, field))
      return target_.describe(at, false).function;
  }
  return operations == 0 ? "-" : "main";
}

} // namespace weft::tool
