// SPDX-License-Identifier: MIT
#include "weft/sync/delegated_call.hpp"

#include "weft/arch/arch.hpp"

namespace weft::sync {

void pause_for_arrival(std::size_t looks) noexcept {
  constexpr std::size_t looks_before_yield = base::backend::scaled(64, 1);
  if (looks % looks_before_yield != 0) {
    arch::relax();
  } else {
    base::backend::yield_kernel_thread();
  }
}

} // namespace weft::sync
