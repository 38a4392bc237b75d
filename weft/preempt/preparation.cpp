// SPDX-License-Identifier: MIT
#include "weft/preempt/preparation.hpp"

#include <atomic>
#include <mutex>
#include <new>

#include "weft/arch/user_mode.hpp"
#include "weft/base/atomic.hpp"
#include "weft/base/immortal.hpp"
#include "weft/base/refuse.hpp"
#include "weft/carrier/leaving.hpp"
#include "weft/memory/annotate.hpp"
#include "weft/preempt/creator.hpp"
#include "weft/preempt/donors.hpp"
#include "weft/preempt/made_blocks.hpp"
#include "weft/preempt/set_user.hpp"
#include "weft/preempt/spares.hpp"
#include "weft/preempt/tick_sources.hpp"
#include "weft/preempt/ticks.hpp"
#include "weft/preempt/user_code.hpp"
#include "weft/sched/timekeeper.hpp"
#include "weft/simulator/simulation.hpp"
#include "weft/workers/worker.hpp"

namespace weft::preempt {
namespace {

using base::refuse;

// `now`: how many threads are being made. stop() sets `ending` if there are none, so that nobody begins to
// make one with what is about to end: who comes meanwhile waits for the lock, which stop() holds to its end.
// A worker takes the lock in its loop, in the child of a fork(), and cannot let others run while it waits:
// whoever has it is not preempted.
// Ordering: (N1) a count that goes down, release; stop() sets `ending`, acquire: it sees the thread that has
// been made since among those that live.
struct preparations {
  static constexpr std::uint32_t ending = 1U << 31;
  std::mutex lock;
  base::atomic<std::uint32_t> now{0};
  // For how many workers all that a kind of thread needs is there. Set with release when it is, read with
  // acquire by who need not look then; zero from stop() on.
  base::atomic<std::size_t> ready_for[sched::preemption_kinds]{};
  // Under the lock. False: somebody makes a thread.
  bool begin_to_end() noexcept {
    std::uint32_t none = 0;
    return now.cas_strong_acq_rel(none, ending); // (N1)
  }
  void go_on() noexcept { now.fetch_and_acq_rel(~ending); }
};

preparations& of_process() noexcept {
  return base::immortal<preparations>();
}

bool has_workers() noexcept {
  bool any = false;
  sched::for_each_worker([](sched::worker&, void* seen) { *static_cast<bool*>(seen) = true; }, &any);
  return any;
}

// Frames on stacks that a sanitizer or valgrind follows cannot be left by a handler.
bool follows_frames() noexcept {
  return arch::sanitizer::watches_frames || memory::annotate::runs_in_valgrind();
}

bool is_cooperative_here() noexcept {
  if (sched::simulation::is_active()) {
    static std::atomic<bool> told{false};
    if (!told.exchange(true))
      base::warn("in a simulation preemptible threads are cooperative");
    return true;
  }
  if (follows_frames()) {
    static std::atomic<bool> said{false};
    if (!said.exchange(true))
      base::warn("under sanitizers and valgrind preemptible threads are cooperative");
    return true;
  }
  if (!may_send_ticks()) {
    static std::atomic<bool> said{false};
    if (!said.exchange(true))
      base::warn("signals cannot be sent here (rt_tgsigqueueinfo): preemptible threads are cooperative");
    return true;
  }
  return false;
}

// Whether the thread may be preempted.
bool prepare(sched::preemption kind, std::size_t workers) {
  if (is_cooperative_here())
    return false;
  base::atomic<std::size_t>& ready_for = of_process().ready_for[static_cast<std::size_t>(kind)];
  if (ready_for.load_acquire() >= workers)
    return true;
  if (!arch::can_preempt)
    refuse(std::errc::not_supported, "weft: preemption is not ported to this machine");
  if (kind == sched::preemption::own_tls || kind == sched::preemption::bound_tls) {
    if (!arch::can_set_thread_pointer())
      refuse(std::errc::not_supported, "weft: this kernel does not let programs set their thread pointer");
    provide_donors(kind == sched::preemption::own_tls ? workers + 2 : 0);
    serve_set_user(); // libc has a kernel thread now
  }
  // Of the others only those need spares that wait in the kernel: one a worker, for who makes more may wait
  // for a lock that they hold.
  const bool leaves = sched::leaves_when() != sched::leave_when::never;
  provide_spares(kind == sched::preemption::own_kernel_thread ? workers + 2 : leaves ? workers : 0);
  sched::timekeeper::start();
  start_monitor();
  sched::leaving_is_watched.store_relaxed(tells_user_code());
  ready_for.store_release(workers); // of two at once either; who needs more looks again
  return true;
}

void end_all() noexcept {
  for (base::atomic<std::size_t>& ready_for : of_process().ready_for)
    ready_for.store_relaxed(0);
  sched::leaving_is_watched.store_relaxed(false);
  stop_monitor();
  stop_serving_set_user();
  stop_creator();
  end_donors();
  forget_spares_of_made();
  end_spares();
}

} // namespace

preparation::counted::counted() noexcept {
  preparations& p = of_process();
  if ((p.now.fetch_add_acq_rel(1) & preparations::ending) == 0) [[likely]]
    return;
  p.now.fetch_sub_release(1);
  const sched::no_preemption here;
  const std::scoped_lock held(p.lock); // until stop() has ended
  p.now.fetch_add_acq_rel(1);
}

preparation::counted::~counted() {
  of_process().now.fetch_sub_release(1); // (N1)
}

preparation::preparation(sched::preemption kind, std::size_t workers)
    : may_be_preempted_(prepare(kind, workers)) {}

void watch_leaving() {
  if (!arch::can_preempt || follows_frames() || !tells_user_code())
    return;
  const sched::no_preemption here;
  const std::scoped_lock held(of_process().lock); // no stop() meanwhile
  try {
    start_monitor();
    provide_spares(0);
  } catch (...) {
    if (of_process().begin_to_end()) {
      if (sched::user_mode::live().load_relaxed() == 0) {
        stop_monitor();
        stop_creator();
      }
      of_process().go_on();
    }
    throw;
  }
  sched::leaving_is_watched.store_relaxed(true);
  sched::rest_of_monitor.rouse();
}

void stop() noexcept {
  const sched::no_preemption here;
  preparations& p = of_process();
  const std::scoped_lock held(p.lock);
  if (!p.begin_to_end())
    return;
  // Another group's threads need all of it; and a worker without any may stand on a spare, and keeps some,
  // and some TLS blocks, for its next threads.
  if (sched::user_mode::live().load_relaxed() == 0 && !has_workers())
    end_all();
  p.go_on();
}

void forget_preparations_after_fork() noexcept {
  sched::leaving_is_watched.store_relaxed(false);
  ::new (static_cast<void*>(&of_process())) preparations;
}

} // namespace weft::preempt
