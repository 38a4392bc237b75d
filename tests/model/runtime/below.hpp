// SPDX-License-Identifier: MIT
// Memory from a kernel that is not there.
#pragma once

#include <cstddef>

namespace weft::model::runtime {

/// What os::map_aligned() gave before is free again.
void begin_execution();
/// Zeros, until the next begin_execution().
void* take_for_this_execution(std::size_t bytes, std::size_t alignment);

} // namespace weft::model::runtime
