// SPDX-License-Identifier: MIT
// The demo's JSON: an error with a sentence, or a value whose text reads as itself.
#include "apps/uts/json.hpp"

#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace json = weft::uts::json;
  std::string once;
  try {
    once = json::parse({reinterpret_cast<const char*>(data), size}).dump();
  } catch (const std::runtime_error&) {
    return 0;
  }
  if (json::parse(once).dump() != once || json::parse(json::parse(once).dump(true)).dump() != once)
    std::abort();
  return 0;
}
