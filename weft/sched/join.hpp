// SPDX-License-Identifier: MIT
// A join, from top to bottom. Who waits for a unit takes the first of these ways that is open:
//
// 1. The unit has not started and stands in this worker's own list: it is called on the caller's stack
//    (call_by_joiner.hpp). This is inlined.
// 2. The same in other pools from which this worker may take it; or there is no room on the caller's stack,
//    or the unit's technique wants a stack of its own: start_by_join(). The caller goes on at this very place
//    when the unit ends, which keeps the CPU's return predictor in step.
// 3. It is ready, and this worker can take it: the worker continues it in place of the caller.
// 4. The caller waits: its worker runs others, or, on a foreign kernel thread, it sleeps on a futex.
//
// Ways 2 to 4 are join_slowly() in join.cpp, where they stand in this order. A technique that is known when
// the caller is compiled has its own way 1 in technique_join.hpp. docs/design/joins.md has the reasons.
#pragma once

#include "weft/sched/call_by_joiner.hpp"
#include "weft/sched/switch.hpp"

namespace weft::sched {

WEFT_API void join_slowly(descriptor& u);

// Waits until `u` has ended; the caller then owns its descriptor, and nobody else may look at it. One caller
// a unit. A unit that has not started and that this worker may take out of its pool runs on the caller's
// stack, or is started by a jump, and the caller goes on at this very place when it ends: that keeps the
// return predictor in step. Contexts: thread, foreign kernel thread. Switches: may. Errors:
// std::system_error: resource_deadlock_would_occur (itself), operation_not_permitted (tasklet). Returns the
// worker that runs the caller then.
[[gnu::always_inline]] inline worker& join(descriptor& u) {
  worker& w = here();
  call_by_joiner::host self;
  if (call_by_joiner::take_listed(w, u, self)) [[likely]]
    return call_by_joiner::run(w, self, u);
  if (!u.join.has_ended() || !u.traits.equals_relaxed(unit::kind_thread))
    join_slowly(u);
  return here();
}

// The second and the third way alone: `u` stands in this worker's own list, at the end of its deque or in a
// pool that gives units to joiners, and is started as its technique says, or gone on with: true when it was,
// and has ended. False: nothing has changed but the budget of decisions, and its place in a pool of the last
// kind. Contexts: in the runtime, on `w`.
WEFT_API bool start_by_join(worker& w, descriptor& u);

// As join(), but `u` does not run on the caller's stack. Its end is published. Contexts: in the runtime.
WEFT_API void join_elsewhere(descriptor& u);

// What a unit that has been joined or is detached may have kept until now: C-Full's and C-RoC's stack.
WEFT_API void release_kept_stack(descriptor& u) noexcept;

WEFT_API void join_tasklet_slowly(descriptor& u);

// Waits until the tasklet has ended, and frees it. One that has not started and that this worker may take is
// run by a call: on the caller's stack, if that is as large as the worker's, else there. Contexts, errors: as
// join().
[[gnu::always_inline]] inline void join_tasklet(descriptor& u) {
  worker& w = here();
  if (!call_by_joiner::run_tasklet(
          w, u, [&u] { technique::run_to_completion::call(u); },
          [&w, &u] { technique::run_to_completion::run(u, w.base); })) [[unlikely]]
    return join_tasklet_slowly(u);
  if (!u.traits.equals_relaxed(unit::kind_tasklet)) [[unlikely]]
    end_inlined(u, *w.current);
  free_unit(w, u);
}

} // namespace weft::sched
