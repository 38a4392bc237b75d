// SPDX-License-Identifier: MIT
// Who sees to it that cooperative threads which wait in the kernel leave their workers (carrier/leaving.hpp):
// the monitor, which finds them, and spare kernel threads for the workers.
#pragma once

#include "weft/base/export.hpp"

namespace weft::preempt {

// Groups that begin from now on have the monitor and spares, where their threads leave. Contexts: once,
// before the first group.
void see_to_leaving() noexcept;

// The caller, a function that stands in for one of libc's, is about to make a call that a signal would end,
// and will return to `to`. If it was called by user code of a thread, that leaves its worker now. Contexts:
// all. Switches: no thread.
WEFT_API void leave_before_wait(const void* to) noexcept;

} // namespace weft::preempt
