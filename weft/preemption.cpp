// SPDX-License-Identifier: MIT
#include "weft/preemption.hpp"

#include "weft/arch/user_mode.hpp"

namespace weft {

bool can_preempt(preemption kind) noexcept {
  switch (kind) {
  case preemption::none:
    return true;
  case preemption::signal_yield:
  case preemption::own_kernel_thread:
    return arch::can_preempt;
  case preemption::own_tls:
  case preemption::bound_tls:
    return arch::can_preempt && arch::can_set_thread_pointer();
  }
  return false;
}

} // namespace weft
