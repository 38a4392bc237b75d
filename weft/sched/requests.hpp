// SPDX-License-Identifier: MIT
// What one unit asks of another: cancel, migrate, suspend and resume. Carried out at the other's next
// scheduling point.
#pragma once

#include "weft/unit/extension.hpp"
#include "weft/workers/pool.hpp"

namespace weft::sched {

// The unit ends at its next scheduling point (or never starts). Contexts: all but signal handlers. Switches:
// never. Errors: std::system_error(operation_not_permitted) for the primary thread.
WEFT_API void request_cancel(descriptor& u);

// `u` goes on in `target` from its next scheduling point on; then `callback(u, argument)` is called, before
// it runs there. A later request replaces an earlier one that was not carried out. Contexts: all but signal
// handlers. Switches: never. Errors: std::system_error(invalid_argument) for a unit that has ended or may not
// move; std::bad_alloc.
WEFT_API void request_migration(descriptor& u, pool& target, unit::migration_callback callback = nullptr,
                                void* argument = nullptr);

// For whoever holds `u` and is about to push it.
void apply_migration(descriptor& u) noexcept;

// Blocks the running thread until resume() is called for it; returns at once if that has happened since the
// last suspend(). Contexts: thread. Switches: may. Errors: as require_thread; unwinds if cancelled.
WEFT_API void suspend();
// Contexts: all but signal handlers. Switches: never.
WEFT_API void resume(descriptor& u);

} // namespace weft::sched
