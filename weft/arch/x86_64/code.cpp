// SPDX-License-Identifier: MIT
// Looks at code from a signal's handler.
#include <sys/syscall.h>
#include <sys/uio.h>

#include "weft/arch/user_mode.hpp"

namespace weft::arch {

bool read_other_page(std::uintptr_t from, void* to, std::size_t bytes) noexcept {
  const iovec there{reinterpret_cast<void*>(from), bytes};
  const iovec here{to, bytes};
  const std::array<long, 6> arguments{
      system_call<SYS_getpid>({}), reinterpret_cast<long>(&here), 1, reinterpret_cast<long>(&there), 1, 0};
  return system_call<SYS_process_vm_readv>(arguments) == static_cast<long>(bytes);
}

} // namespace weft::arch
