// SPDX-License-Identifier: MIT
// In which system call a kernel thread of a process waits, as /proc has it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "tools/weft/descriptors.hpp"
#include "tools/weft/target.hpp"

namespace weft::tool {

// "read of 3 (pipe:[123])", "futex", "system call 999"; empty: it computes, or it is not known.
std::string describe_kernel_call(const std::optional<kernel_call>& call, descriptors& of);

} // namespace weft::tool
