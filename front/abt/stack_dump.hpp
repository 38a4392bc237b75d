// SPDX-License-Identifier: MIT
// The state of a dump of all stacks; see stack_dump.cpp.
#pragma once

#include <atomic>
#include <cstdint>

namespace weft::abt {

enum class dump_stage : std::uint8_t { idle, asked, printing };
extern std::atomic<dump_stage> dump;

inline bool dump_is_wanted() noexcept {
  return dump.load(std::memory_order_relaxed) != dump_stage::idle;
}
void serve_stack_dump_slowly() noexcept;

} // namespace weft::abt
