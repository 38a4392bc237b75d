// SPDX-License-Identifier: MIT
// The one signal of this room (WEFT_PREEMPTION_SIGNAL): taken while the monitor or the watchdog wants it,
// then given back. A handler that was there before gets the signals that are not ours.
#pragma once

namespace weft::preempt {

// The number; the handler is installed. Once for each unuse_signal(). Contexts: all but signal handlers.
// Switches: never. Errors: std::system_error(invalid_argument) for a number that cannot be handled.
int use_signal();
void unuse_signal() noexcept;

} // namespace weft::preempt
