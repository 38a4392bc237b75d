// SPDX-License-Identifier: MIT
#include <system_error>

#include "weft/arch/arch.hpp"
#include "weft/os/fault.hpp"
#include "weft/workers/group.hpp"

namespace weft::sched {

void refuse_shadow_stack() {
  if (arch::shadow_stack_active() || os::fault(os::fault_site::shadow_stack) != 0) {
    throw std::system_error(
        std::make_error_code(std::errc::not_supported),
        "weft: this process has a shadow stack, which the switch cannot follow; link without -z shstk");
  }
}

} // namespace weft::sched
