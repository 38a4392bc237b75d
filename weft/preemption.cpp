// SPDX-License-Identifier: MIT
#include "weft/preemption.hpp"

#include "weft/arch/user_mode.hpp"

namespace weft {

bool can_preempt(preemption kind) noexcept {
  switch (kind) {
  case preemption::none:
    return true;
  case preemption::signal_yield:
    return arch::can_preempt;
  case preemption::own_tls:
    return arch::can_preempt && arch::can_set_thread_pointer();
  }
  return false;
}

} // namespace weft
