// SPDX-License-Identifier: MIT
// ABT_SET_AFFINITY: a list within its bounds, or a refusal that leaves the old one.
#include "front/abt/affinity_list.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr int most = 1 << 16;
  const std::string text(reinterpret_cast<const char*>(data), size);
  std::vector<std::vector<int>> sets{{42}};
  if (!weft::abt::parse_affinity(text.c_str(), sets)) {
    if (sets != std::vector<std::vector<int>>{{42}})
      std::abort();
    return 0;
  }
  std::size_t named = 0;
  for (const auto& set : sets) {
    if (set.empty())
      std::abort();
    for (const int id : set) {
      ++named;
      if (id < -most || id > most)
        std::abort();
    }
  }
  if (sets.empty() || named > 2 * std::size_t{most})
    std::abort();
  return 0;
}
