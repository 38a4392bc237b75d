// SPDX-License-Identifier: MIT
// swap_publishing() by way of swap_with(), for every port.
#pragma once

#include <cstdint>

#include "weft/base/atomic.hpp"

namespace weft::arch {

struct publication {
  base::atomic<std::uint8_t>* word;
  std::uint8_t value;

  // An arrival_function.
  static void store(void* argument) {
    const publication copy = *static_cast<publication*>(argument); // its frame may be gone once it is stored
    copy.word->store_release(copy.value);
  }
};

} // namespace weft::arch
