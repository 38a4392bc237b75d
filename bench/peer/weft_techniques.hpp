// SPDX-License-Identifier: MIT
// The threading techniques by name, for workloads that run each of them as a type.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weft/techniques.hpp"

namespace weft::bench {

inline std::vector<std::string> technique_names() {
  std::vector<std::string> names;
  for (unsigned i = 0; i < unit::technique_count; ++i)
    names.emplace_back(to_string(static_cast<technique_id>(i)));
  return names;
}

// f.operator()<T>() for the technique T of that name, and what it returns; 2, the exit code of a usage error,
// if there is none.
template <class F>
int with_technique(std::string_view name, F&& f) {
  int result = 2;
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    static_cast<void>(((name == to_string(static_cast<technique_id>(I)) &&
                        (result = f.template operator()<static_cast<technique_id>(I)>(), true)) ||
                       ...));
  }(std::make_index_sequence<unit::technique_count>());
  return result;
}

} // namespace weft::bench
