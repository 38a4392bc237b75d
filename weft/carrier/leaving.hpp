// SPDX-License-Identifier: MIT
// Cooperative threads, main() among them, that wait in the kernel leave their worker to the others, as
// preemptible ones do (away.cpp). Such a thread keeps the kernel thread and goes on there without a worker:
// what it finds in place of one is a face without list, deque and budget, as a preemptible thread does in
// user mode, so that the first call of Weft comes into the runtime. There it waits for a worker like any
// thread that is ready, and is what it was before.
//
// docs/design/leaving.md has the argument.
#pragma once

#include <atomic>

#include "weft/base/export.hpp"
#include "weft/park/watcher_rest.hpp"
#include "weft/workers/worker.hpp"

namespace weft::sched {

// Which groups it is for. Contexts of both: all, SIGNAL-SAFE.
// WEFT_LEAVE: `automatic` is groups of two or more workers that steal, and any where a preemptible thread
// lives, but for groups of a front.
enum class leave_when : std::uint8_t { automatic, never, always };
[[nodiscard]] WEFT_API leave_when leaves_when() noexcept;
// In place of what the environment says. Contexts: while no group runs. Switches: never.
WEFT_API void set_leaving(leave_when when) noexcept;
// Whether a thread may leave `w` now. False where nobody watches (WEFT_LEAVE=never, sanitizers, valgrind,
// simulation, ports without preemption).
[[nodiscard]] bool may_leave(const worker& w) noexcept;
// The same of all workers of a group, whether preemptible threads live or not, and whoever watches.
[[nodiscard]] bool threads_leave(const group& g) noexcept;

// Who sees to it that threads leave (the preempt room). One for the process, set before the first group.
// Contexts: as the constructor and the destructor of a group; in the child of fork(), a worker's loop.
class leaving_watcher {
 public:
  // A group of whose workers threads leave has begun. Tells by itself what it cannot have.
  virtual void begin(const group& g) noexcept = 0;
  // Any group has ended.
  virtual void end() noexcept = 0;

 protected:
  ~leaving_watcher() = default;
};
WEFT_API extern std::atomic<leaving_watcher*> watcher_of_leaving;
// Whether somebody watches: without it nobody leaves. Written by the watcher.
WEFT_API extern base::atomic<bool> leaving_is_watched;

// The running thread of `w`, which is cooperative, goes on without it; the worker, on another kernel thread.
// Contexts: a signal handler that has interrupted code in which nothing of the worker is in use, and what
// such code calls; on the kernel thread of `w`. Switches: no thread. False: no kernel thread is to be had;
// nothing has changed.
[[nodiscard]] WEFT_API bool leave_worker(worker& w) noexcept;

[[nodiscard]] inline bool is_away(const worker_face& face) noexcept {
  return face.attention.any_relaxed(without_worker);
}
// Waits for a worker. `face` is the caller's, which is away. Switches: always.
WEFT_API worker& come_back(worker_face& face) noexcept;
// For what the runtime does at the end of a unit, and where it asks which worker it is on. Contexts: all but
// signal handlers. Switches: where the caller is away.
inline void come_back_if_away() noexcept {
  worker_face& face = here();
  if (is_away(face)) [[unlikely]]
    come_back(face);
}
// For exit(): the caller, who is away, is a kernel thread that is no worker from now on.
void stay_away(worker_face& face) noexcept;

// The primary thread, on a kernel thread without a worker, is about to save its context, which its own worker
// must leave alone until group::primary_has_left().
void primary_comes_back() noexcept;

// The unit that is in fork(): it keeps its worker. Null: none. Written under the lock of fork().
extern base::atomic<const descriptor*> forking_unit;
// Of whoever watches, while no worker is awake that a thread could leave.
WEFT_API extern park::watcher_rest rest_of_monitor;

} // namespace weft::sched
