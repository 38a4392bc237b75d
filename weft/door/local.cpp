// SPDX-License-Identifier: MIT
#include "weft/door/local.hpp"

#include <atomic>

namespace weft::door {

std::uint64_t local_key::next_serial() noexcept {
  static std::atomic<std::uint64_t> next{1};
  return next.fetch_add(1, std::memory_order_relaxed); // relaxed: only the numbers differ
}

} // namespace weft::door
