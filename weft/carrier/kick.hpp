// SPDX-License-Identifier: MIT
// "Kick on push": a worker leaves what it runs in user mode when something of a higher class of priority
// comes (docs/design/priorities.md, whose labels (K1) to (K3) stand here). Classes are those of pools; who
// makes such pools is arrange/priority.hpp.
#pragma once

#include <atomic>

#include "weft/base/export.hpp"
#include "weft/workers/worker.hpp"

namespace weft::sched {

// Makes the kernel thread of the worker leave what it runs in user mode. Null: nothing is preemptible yet.
// Contexts of what it points to: in the runtime; it may not take a lock.
WEFT_API extern std::atomic<void (*)(worker&) noexcept> kick_worker;

// Sends for a worker of the pool's that runs something lower, if there are units in it and no worker is idle.
// Contexts: in the runtime. Switches: never.
void kick_a_server(const pool& p) noexcept;
[[nodiscard]] bool is_served_by(const pool& p, const worker& w) noexcept; // RACY: as pool::servers()

// --- of a worker whose attention has `worker_has_classes` ---

// Somebody whom only this worker runs has become ready, and stands where it looks.
void kick_owner(worker& w) noexcept;

// The running thread goes to user mode, its serial is shown. True: somebody of a higher class is there, and
// the thread must leave again. (K2)
bool enters_user_mode(worker& w, const descriptor& u) noexcept;
// Whether a tick is of use: who would run if the thread did not. RACY: a hint.
bool others_wait_in_classes(worker& w) noexcept;
// The worker has left its search: pushes may have counted on it for more than the one unit that it takes.
void kick_for_the_rest(worker& w) noexcept;

} // namespace weft::sched
