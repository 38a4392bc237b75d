// SPDX-License-Identifier: MIT
// fork() as this room sees it: the child has no event source until it waits, and no spare threads.
#pragma once

#include "weft/io/blocking.hpp"
#include "weft/io/descriptor_table.hpp"
#include "weft/os/doorbell.hpp"

namespace weft::io {

inline void child_of_fork() noexcept {
  os::forget_doorbells();
  forget_descriptors();
  forget_spare_threads();
}

} // namespace weft::io
