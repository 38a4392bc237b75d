// SPDX-License-Identifier: MIT
// Workers of a front's own, beside those of the default runtime: where its threads run that no other code may
// see, or that are bound to one worker. They go on after exit(), until the process has ended.
#pragma once

#include "weft/door/section.hpp"
#include "weft/door/unit.hpp"
#include "weft/pool.hpp"

#include <memory>

namespace weft::door {

namespace detail {

[[nodiscard]] inline std::unique_ptr<worker_group> start_workers(unsigned number, arrangement pools) {
  group_options o;
  o.workers = number;
  o.pools = pools;
  return std::make_unique<worker_group>(std::move(o));
}

} // namespace detail

/// One FIFO for all of them: whoever is free runs who waits longest. For preemptible threads, since each
/// worker sees that others wait, wherever they became ready. *Contexts*: thread, foreign kernel thread; the
/// process is prepared (process.hpp). *Switches*: never. *Errors*: std::bad_alloc; std::system_error: no
/// kernel thread could be had.
[[nodiscard]] inline std::unique_ptr<worker_group> start_shared_workers(unsigned number) {
  return detail::start_workers(number, arrangement::one_pool);
}

/// A deque each, from which the others steal. *Contexts*, *Switches*, *Errors*: as start_shared_workers().
[[nodiscard]] inline std::unique_ptr<worker_group> start_stealing_workers(unsigned number) {
  return detail::start_workers(number, arrangement::stealing);
}

/// A pool each, from which nobody steals: a cooperative thread that lives in pool_of() stays on that worker,
/// and so on one kernel thread, whose variables it uses. *Contexts*, *Switches*, *Errors*: as
/// start_shared_workers().
[[nodiscard]] inline std::unique_ptr<worker_group> start_private_workers(unsigned number) {
  return detail::start_workers(number, arrangement::pool_per_worker);
}

/// Where the threads of a worker live. *Contexts*: all but signal handlers. *Switches*: never. *Errors*:
/// std::out_of_range: there is no such worker.
[[nodiscard]] inline weft::pool& pool_of(worker_group& workers, unsigned index) {
  return *workers.member(index).main_pool.load_acquire();
}

/// That of the worker that the caller runs on, if this is a worker of the same group as the owner of
/// `elsewhere`; else `elsewhere`. *Contexts*: in the runtime. *Switches*: never. *Errors*: none.
[[nodiscard]] inline weft::pool& pool_here(weft::pool& elsewhere) noexcept {
  const sched::worker* const there = elsewhere.owner();
  if (!sched::on_worker() || there == nullptr || &there->owner_group != &sched::here().owner_group)
    return elsewhere;
  return *sched::here().main_pool.load_acquire();
}

/// Who calls is a thread of Weft, and not the primary one: it may go on on another kernel thread after each
/// switch. *Contexts*: all but signal handlers. *Switches*: never. *Errors*: none.
[[nodiscard]] inline bool calls_from_a_thread() noexcept {
  return sched::on_worker() && sched::here().current != &worker_group::primary_unit();
}

/// Who calls is a kernel thread, and no worker. *Contexts*: all but signal handlers. *Switches*: may, where a
/// thread calls that is away from its worker. *Errors*: none.
[[nodiscard]] inline bool calls_from_a_kernel_thread() noexcept {
  const runtime_section in;
  return !sched::on_worker();
}

/// The workers among which the caller runs. *Contexts*: on a worker. *Switches*: never. *Errors*: none.
[[nodiscard]] inline worker_group& group_here() noexcept {
  const runtime_section in;
  return sched::here().owner_group;
}

/// The unit that calls; null: a kernel thread that is no worker. *Contexts*: in the runtime. *Switches*:
/// never. *Errors*: none.
[[nodiscard]] inline const void* unit_here() noexcept {
  return sched::on_worker() ? sched::here().current : nullptr;
}

/// Whether the caller's worker has another one that it could run at once, or is asked for something. A hint.
/// *Contexts*: all but signal handlers. *Switches*: never. *Errors*: none.
[[nodiscard]] inline bool others_are_ready_here() noexcept {
  const runtime_section in;
  const sched::worker& w = sched::here();
  return (w.fifo != nullptr && !w.fifo->empty()) || (w.deque != nullptr && !w.deque->empty()) ||
         (w.attention.load_relaxed() & ~sched::standing_attention) != 0; // relaxed: a hint
}

/// Who calls is a thread that has thread-local variables of its own, wherever it runs. *Contexts*,
/// *Switches*, *Errors*: as above.
[[nodiscard]] inline bool calls_on_own_variables() noexcept {
  return sched::on_worker() && sched::user_mode::has_bound_block(*sched::here().current);
}

} // namespace weft::door
