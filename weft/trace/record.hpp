// SPDX-License-Identifier: MIT
// One event as it stands in memory and in a raw file.
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/trace/event.hpp"

namespace weft::trace {

struct record {
  std::uint64_t time_ns; // os::now_ns()
  std::uint64_t unit;    // address of the descriptor: an identity for the length of a run
  std::uint32_t argument;
  event what;
  std::uint8_t unused[3]{}; // by name, so that no byte of a file is left to chance
};
static_assert(sizeof(record) == 24 && std::has_unique_object_representations_v<record>);

} // namespace weft::trace
