// SPDX-License-Identifier: MIT
// High-water marks: how much of its stack each thread used, measured when the stack is freed. Off by default,
// and then free of cost: caches take their slow path at each free only while it is on
// (WEFT_STACK_WATERMARK=1, or set_watermark()). The lowest page touched is asked of the kernel (mincore), the
// lowest non-zero word looked for in it; before a stack is used again it is cleared, so that the next mark is
// the next user's own.
#pragma once

#include "weft/base/export.hpp"
#include "weft/memory/stack_record.hpp"

#include <cstddef>

namespace weft::memory {

// Contexts: all. Switches: never.
WEFT_API bool watermark_enabled() noexcept;
// Takes effect in each cache at its next slow path; set it before threads run. Stacks in use meanwhile may
// report what an earlier user left.
WEFT_API void set_watermark(bool enabled) noexcept;

// Bytes from the record down to the lowest word that is not zero: what has been used so far, by this user or,
// unless marks are on, by an earlier one. Works for a live stack. Contexts: any kernel thread, while the
// stack is live. Switches: never.
WEFT_API std::size_t current_usage(const stack_record& stack) noexcept;

struct usage_mark {
  const void* function; // stack_record::function; null: those without
  std::size_t bytes;    // the most that was used
  std::size_t threads;  // how many were measured
};

// The most any thread has used; 0 before the first. Contexts: any kernel thread.
WEFT_API std::size_t watermark() noexcept;
// The most that threads of this function have used.
WEFT_API std::size_t watermark(const void* function) noexcept;
// Up to `room` marks, largest first; returns how many.
WEFT_API std::size_t watermarks(usage_mark* out, std::size_t room) noexcept;
WEFT_API void reset_watermarks() noexcept;

// For the stack cache.
void note_usage(const stack_record& stack) noexcept;

} // namespace weft::memory
