// SPDX-License-Identifier: MIT
// The tool interface: one callback for what happens to units. While one is registered every stream records
// what it does, which takes the slow paths; else it costs one load of a flag where a unit is made, joined or
// freed.
#pragma once

#include <atomic>
#include <cstdint>

#include "front/abt/unit.hpp"
#include "weft/door/observe.hpp"

namespace weft::abt {

// What a tool is told of; 0: there is none.
extern std::atomic<std::uint64_t> tool_events;
// Relaxed: only spares the call.
[[nodiscard]] inline bool tool_wants(std::uint64_t events) noexcept {
  return (tool_events.load(std::memory_order_relaxed) & events) != 0;
}

void tell_tool_slowly(descriptor& u, std::uint64_t event) noexcept;
// Tells of an event whose cause is the caller; a recording (weft/trace.hpp), too.
inline void tell_tool(descriptor& u, std::uint64_t event) noexcept {
  if (door::units_are_watched()) [[unlikely]] {
    if (tool_wants(event) || door::units_are_recorded())
      tell_tool_slowly(u, event);
  }
}

// What the calling unit waits for while this lives, for its YIELD and SUSPEND events.
class tool_reason {
 public:
  tool_reason(ABT_sync_event_type type, const void* object) noexcept {
    if (tool_wants(ABT_TOOL_EVENT_THREAD_YIELD | ABT_TOOL_EVENT_THREAD_SUSPEND)) [[unlikely]]
      set(type, object);
  }
  ~tool_reason() {
    if (info_ != nullptr) [[unlikely]]
      info_->waits_for = ABT_SYNC_EVENT_TYPE_USER;
  }
  tool_reason(const tool_reason&) = delete;
  tool_reason& operator=(const tool_reason&) = delete;

 private:
  void set(ABT_sync_event_type type, const void* object) noexcept;
  unit_info* info_ = nullptr; // the waiting unit's, which it has until its end
};

// A stream that starts: whether it must record.
void join_tool(worker& w) noexcept;

// When no stream runs: callbacks that were replaced.
void forget_old_listeners() noexcept;

} // namespace weft::abt
