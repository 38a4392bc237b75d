// SPDX-License-Identifier: MIT
// A model of what simulated workers do to the lines that their atomic operations touch. Each worker is a core
// with a cache of its own, infinite, so that nothing is ever evicted; lines of 64 bytes are modified in one
// cache, shared by some, or in none (MSI). Counted between start() and stop(), of the seam's operations
// alone: plain data and std::atomic beside the seam are not seen.
#pragma once

#include <cstdint>

namespace weft::scaling {

enum class kind : std::uint8_t { load, store, change };

struct totals {
  std::uint64_t loads = 0;
  std::uint64_t stores = 0;
  std::uint64_t changes = 0;  // read-modify-writes
  std::uint64_t moved = 0;    // lines that came from another cache, to be read or written
  std::uint64_t upgraded = 0; // copies of one's own that became writable: others' were invalidated
  std::uint64_t cold = 0;     // first uses of a line by anybody
};

// One operation by the running worker. Contexts: all. Nothing unless it is counted on this kernel thread.
void access(const void* address, kind how) noexcept;

// With all caches empty.
void start();
totals stop() noexcept;

} // namespace weft::scaling
