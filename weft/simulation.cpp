// SPDX-License-Identifier: MIT
#include "weft/simulation.hpp"

#include "weft/os/clock.hpp"

namespace weft::simulation {

std::chrono::nanoseconds now() noexcept {
  return std::chrono::nanoseconds(os::now_ns());
}

} // namespace weft::simulation
