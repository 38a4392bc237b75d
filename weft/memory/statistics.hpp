// SPDX-License-Identifier: MIT
// What the room holds, and what the process pays for it: resident memory and, beside it, the page tables,
// which a million sparse stacks make large enough to mention.
#pragma once

#include "weft/base/export.hpp"
#include "weft/memory/object_depot.hpp"
#include "weft/memory/stack_depot.hpp"

#include <cstddef>

namespace weft::memory {

// Bytes; 0 where /proc cannot be read.
struct process_memory {
  std::size_t resident;      // VmRSS
  std::size_t peak_resident; // VmHWM
  std::size_t page_tables;   // VmPTE
  std::size_t mappings;      // lines of /proc/self/maps; 0 unless asked for
};

// Contexts: thread, foreign kernel thread (reads files; allocates nothing). Switches: never. Errors: zeros.
WEFT_API process_memory read_process_memory(bool with_mappings = false) noexcept;

struct memory_statistics {
  stack_depot::statistics stacks;
  process_memory process;
};

// Contexts: any kernel thread, at any time; stack counts are exact while no cache is in use. Descriptors are
// counted by object_depot::count(). Switches: never.
WEFT_API memory_statistics read_statistics(stack_depot& depot = stack_depot::process()) noexcept;

} // namespace weft::memory
