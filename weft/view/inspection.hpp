// SPDX-License-Identifier: MIT
// How another process, or whoever reads a core, finds all units and workers: docs/design/inspection.md.
#pragma once

#include <cstdint>

#include "weft/base/atomic.hpp"
#include "weft/base/export.hpp"
#include "weft/unit/descriptor.hpp"

namespace weft::sched {

struct worker;

// The workers of the process and its primary thread, for inspection only. enter() and leave() by whoever
// makes and destroys workers; keep_only() in the child of fork(), `w` null: none is left. Contexts: all but
// signal handlers. Switches: never.
struct inspection {
  static void enter(worker& w) noexcept;
  static void leave(worker& w) noexcept;
  static void keep_only(worker* w) noexcept;

  static base::atomic<unit::descriptor*> primary; // null: `main` is no thread of ours yet
};

} // namespace weft::sched

// A name and what it stands for: a number (an offset, a size, the number of a state), or an address.
struct weft_debug_entry {
  char name[32];
  std::uint64_t number;
  const void* address;
};

// Ends with an empty name. The first entry is "version": readers refuse numbers that they do not know. Names
// may be added within a version, and readers skip those that they do not know.
extern "C" WEFT_API const weft_debug_entry weft_debug_layout[];
