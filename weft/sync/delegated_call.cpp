// SPDX-License-Identifier: MIT
#include "weft/sync/delegated_call.hpp"

#include "weft/arch/arch.hpp"

namespace weft::sync {

void let_others_run() {
  if (!sched::on_worker()) {
    base::backend::yield_kernel_thread();
  } else if (sched::here().current->kind() == unit::kind_thread) {
    suspended_thread place;
    place.wait_with([] { return false; }); // SWITCH: may resume on another worker
  }
}

void pause_for_arrival(std::size_t looks) noexcept {
  constexpr std::size_t looks_before_yield = 64;
  if (looks % looks_before_yield != 0) {
    arch::relax();
  } else {
    base::backend::yield_kernel_thread();
  }
}

} // namespace weft::sync
