// SPDX-License-Identifier: MIT
// A stream: a group of one worker, so that two of them share nothing that they do not share by their pools.
// What OpenMP, Pthreads and Argobots bind units to. Its scheduler is the front's (weft::scheduler,
// weft/pool.hpp), which tells it where to look; to end one, its scheduler is replaced by one that finds
// nothing, and the group is destroyed.
#pragma once

#include "weft/door/unit.hpp"
#include "weft/pool.hpp"

#include <memory>
#include <utility>

namespace weft::door {

/// Starts one. `owner`: what the front has of it, for owner_here(). `is_callers`: the caller, a kernel thread
/// that is no worker, becomes its worker, and the code that calls a thread on it (primary_unit()). `make()`:
/// the scheduler, called before the worker starts. *Contexts*: thread, foreign kernel thread; the process is
/// prepared (process.hpp). *Switches*: never. *Errors*: std::bad_alloc, std::system_error: no kernel thread
/// could be had; what `make` throws.
template <class MakeScheduler>
[[nodiscard]] std::unique_ptr<worker_group> start_stream(void* owner, bool is_callers, MakeScheduler make);

/// What the front has of the stream that runs the caller; null on kernel threads that are no workers, and on
/// workers that are no streams. One front at a time has streams in a process. *Contexts*: in the runtime.
/// *Switches*: never. *Errors*: none.
template <class Owner>
[[nodiscard]] Owner* owner_here() noexcept {
  const worker& w = sched::here();
  return w.attention.any_relaxed(sched::not_a_worker) ? nullptr : static_cast<Owner*>(w.front);
}
/// The worker that runs the caller, if it is a stream; else null. For those who ask more than one thing of
/// it. *Contexts*, *Switches*, *Errors*: as owner_here().
[[nodiscard]] inline const worker* stream_here() noexcept {
  const worker& w = sched::here();
  return w.attention.any_relaxed(sched::not_a_worker) || w.front == nullptr ? nullptr : &w;
}
/// Of a worker: the same, and whether it is a stream.
template <class Owner>
[[nodiscard]] Owner* owner_of(const worker& w) noexcept {
  return static_cast<Owner*>(w.front);
}
[[nodiscard]] inline bool is_stream(const worker& w) noexcept {
  return w.front != nullptr;
}
/// The unit that calls, or what stands for the worker's loop. *Contexts*: on a worker, in the runtime.
[[nodiscard]] inline descriptor& unit_here() noexcept {
  return *sched::here().current;
}
/// What the calling code became where a stream is the caller's; one for the process. *Contexts*: any.
[[nodiscard]] inline descriptor& primary_unit() noexcept {
  return worker_group::primary_unit();
}
/// How many units stand below the caller that run others in the place of a loop: run_child() (switch.hpp).
/// *Contexts*: on a worker, in the runtime.
[[nodiscard]] inline unsigned nesting_here() noexcept {
  return sched::here().nesting;
}

/// Makes a stream look at its scheduler again, and what that says of its pools; wakes it for that.
/// *Contexts*: all but signal handlers; the stream is there. *Switches*: never. *Errors*: none.
inline void look_again(worker& w) noexcept {
  w.call(sched::refresh_waiting);
}
/// The same for one that is awake, as the caller's own.
inline void look_again_soon(worker& w) noexcept {
  w.ask(sched::refresh_waiting);
}
/// Whether the loop of the calling worker has something to do that is no unit's: what was asked of it, but
/// for the marks that stay; or units of its own. *Contexts*: on `w`, in the runtime.
[[nodiscard]] inline bool loop_is_wanted(const worker& w) noexcept {
  constexpr std::uint32_t ours = sched::always_ask | sched::tracing | sched::observed | sched::inbox_waiting;
  return (w.attention.load_relaxed() & ~ours) != 0 || !w.local.empty();
}

/// A pool for units that only one worker makes and runs, as those that stand for the loop of a scheduler.
using own_pool = sched::owned_fifo;

/// Where a unit of the public API goes that a front's pool is given and does not know: the pool of its
/// default runtime. *Contexts*: in the runtime. *Switches*: never. *Errors*: as weft::runtime::start().
[[nodiscard]] WEFT_API weft::pool& pool_of_default_runtime();

/// The number of the next stream, which its worker bears: no two have one. *Contexts*: any. *Switches*:
/// never. *Errors*: none.
[[nodiscard]] WEFT_API unsigned next_stream_number() noexcept;

template <class MakeScheduler>
std::unique_ptr<worker_group> start_stream(void* owner, bool is_callers, MakeScheduler make) {
  group_options o;
  o.workers = 1;
  o.pools = arrangement::custom;
  o.primary_joins = is_callers;
  o.first_number = next_stream_number();
  o.front = owner;
  o.make_scheduler = [&](unsigned) { return make(); };
  return std::make_unique<worker_group>(std::move(o));
}

} // namespace weft::door
