// SPDX-License-Identifier: MIT
// Threads that leave their worker while they compute, if others wait: thread_attributes::preemption.
// docs/guide/preemption.md.
#pragma once

#include "weft/base/export.hpp"
#include "weft/preempt/ticks.hpp"
#include "weft/preempt/watchdog.hpp"
#include "weft/sched/user_mode.hpp"

namespace weft {

using sched::no_preemption;
using sched::preemption;

// Whether threads of this kind can be had on this machine. Contexts: all but signal handlers.
[[nodiscard]] WEFT_API bool can_preempt(preemption kind) noexcept;

} // namespace weft
