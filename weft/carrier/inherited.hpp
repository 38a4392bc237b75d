// SPDX-License-Identifier: MIT
// What a preemptible thread passes on to the calls that it forks, and to the members of its groups: that they
// can be preempted, in the same way. A thread that forks a long call would keep its worker else.
#pragma once

#include "weft/base/export.hpp"
#include "weft/carrier/user_mode.hpp"

namespace weft::sched {

// The kind of what the caller makes: its own, if it is a preemptible thread. Contexts: all but signal
// handlers. Switches: never.
[[nodiscard]] inline preemption inherited_preemption() noexcept {
  worker_face& face = here();
  return is_in_user_mode(face) ? user_mode::behind(face).kind() : preemption::none;
}

// Runs `u`, the running unit, which is cooperative until now: `operations` are its real ones. It is
// preemptible while its function runs. One of bound_tls has a borrowed block instead of its own: making one
// takes 200 us, and no call relies on what its thread-locals were before. Where there is no memory for it, it
// runs as a cooperative unit. Contexts: in the runtime, on the unit's stack. Switches: may.
WEFT_API void run_as_preemptible(descriptor& u, const unit::operations& operations, preemption kind);

} // namespace weft::sched
