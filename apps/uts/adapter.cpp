// SPDX-License-Identifier: MIT
// The list of runtimes, filled by the adapters' registrations before main.

#include "apps/uts/adapter.hpp"

#include <algorithm>
#include <utility>

namespace weft::uts {
namespace {

std::vector<adapter>& mutable_adapters() {
  static std::vector<adapter> all;
  return all;
}

} // namespace

const std::vector<adapter>& adapters() {
  return mutable_adapters();
}

const adapter* find_adapter(const std::string& name) {
  const auto& all = adapters();
  const auto at = std::find_if(all.begin(), all.end(), [&](const adapter& a) { return a.name == name; });
  return at == all.end() ? nullptr : &*at;
}

adapter_registration::adapter_registration(adapter a) {
  auto& all = mutable_adapters();
  const auto at = std::upper_bound(all.begin(), all.end(), a,
                                   [](const adapter& x, const adapter& y) { return x.order < y.order; });
  all.insert(at, std::move(a));
}

weft_extras& extras() {
  static weft_extras all;
  return all;
}

} // namespace weft::uts
